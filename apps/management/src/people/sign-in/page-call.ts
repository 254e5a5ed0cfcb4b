import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import type { SignInStore } from '@attestry/keys';
import type { SignInCall } from '@attestry/service-kit';
import { page, pageHeaders, type FormFault, type Html } from './pages.js';

/** A request for a page of the sign-in. */
export interface PageCall extends SignInCall {
  request: IncomingMessage;
  response: ServerResponse;
  provider: Provider;
  store: SignInStore;
  url: URL;
  /** Path of the issuer, before all paths of pages. */
  base: string;
  /** Whether the pages are served over HTTPS. */
  isSecure: boolean;
  /** Fields of a form of our own pages; empty unless one was posted. */
  fields: Record<string, string>;
  /** Hidden field that each form of ours has. */
  formField(): string;
}

/** One page with the forms on it. */
export interface Page {
  /** Paths below the issuer's. */
  readonly path: RegExp;
  /** Answers GET, HEAD and a form that this page showed. */
  answer(pageCall: PageCall): Promise<void>;
}

/** All {@link Page}s, in any order: no two have a path in common. */
export const PAGES = Symbol('pages of the sign-in');

export const isPost = ({ request }: PageCall): boolean => request.method === 'POST';

export const sendPage = (
  { request, response }: Pick<PageCall, 'request' | 'response'>,
  status: number,
  title: string,
  content: Html,
  faults: readonly FormFault[] = [],
  leadsTo: readonly string[] = [],
): void => {
  for (const [name, value] of Object.entries(pageHeaders(leadsTo))) response.setHeader(name, value);
  response.statusCode = status;
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(request.method === 'HEAD' ? undefined : page(title, content, faults));
};
