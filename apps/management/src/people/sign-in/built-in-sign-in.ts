import type { IncomingMessage, ServerResponse } from 'node:http';
import { Inject, Injectable, Optional, type OnModuleInit } from '@nestjs/common';
import { AppError, type JwkSet } from '@attestry/contracts';
import { SignInStore } from '@attestry/keys';
import {
  LOGGER,
  PlatformConfig,
  SignInRegistry,
  type Logger,
  type SignIn,
  type SignInCall,
} from '@attestry/service-kit';
import { FormGuard } from './form-guard.js';
import { PAGES, isPost, sendPage, type Page, type PageCall } from './page-call.js';
import { html, page, pageHeaders } from './pages.js';
import { readForm } from './read-form.js';
import { SignInProvider } from './sign-in-provider.js';
import { hasEnded } from './stored-records.js';

/**
 * The built-in sign-in of people: an OpenID provider, and plain pages that work without scripts. It has only accounts; users and
 * memberships are handled by operations that it calls through the gateway as the person.
 */
@Injectable()
export class BuiltInSignIn implements SignIn, OnModuleInit {
  private readonly base: string;
  private readonly origin: string;
  private readonly isSecure: boolean;

  constructor(
    config: PlatformConfig,
    private readonly provider: SignInProvider,
    private readonly guard: FormGuard,
    @Inject(PAGES) private readonly pages: readonly Page[],
    private readonly signIns: SignInRegistry,
    @Inject(LOGGER) private readonly logger: Logger,
    /** Absent where the built-in sign-in is not enabled. */
    @Optional() private readonly store?: SignInStore,
  ) {
    const { origin, pathname, protocol } = new URL(config.signInIssuer);
    this.base = pathname;
    this.origin = origin;
    this.isSecure = protocol === 'https:';
  }

  onModuleInit(): void {
    if (this.store) this.signIns.offer(this);
  }

  keySet(): Promise<JwkSet> {
    return this.provider.keySet();
  }

  async hasEnded(grantId: string): Promise<boolean> {
    return this.store !== undefined && hasEnded(this.store.records, grantId);
  }

  async handle(request: IncomingMessage, response: ServerResponse, signInCall: SignInCall): Promise<void> {
    for (const [name, value] of Object.entries(pageHeaders())) response.setHeader(name, value);
    try {
      const { store, base, isSecure } = this;
      if (!store) throw new Error('the built-in sign-in is not enabled');
      await this.route({
        ...signInCall,
        request,
        response,
        provider: await this.provider.open(store.records),
        store,
        url: new URL(request.url ?? '/', this.origin),
        base,
        isSecure,
        fields: {},
        formField: () => this.guard.fieldFor(request, response, isSecure),
      });
    } catch (error) {
      this.fail(response, error, signInCall.requestId);
    }
  }

  private async route(pageCall: PageCall): Promise<void> {
    const { request, response, url } = pageCall;
    const path = url.pathname.slice(this.base.length);
    const found = this.pages.find((it) => it.path.test(path));
    if (!found) return this.toProvider(pageCall);
    if (request.method === 'GET' || request.method === 'HEAD') return found.answer(pageCall);
    if (!isPost(pageCall)) {
      response.setHeader('allow', 'GET, HEAD, POST');
      return sendPage(pageCall, 405, 'This request is not supported', html`<p>Open the page in a browser.</p>`);
    }
    const read = await readForm(request);
    if (!read) return;
    // The rest of the form is not read (RFC 9110 §15.5.9).
    if (read.status === 408) response.setHeader('connection', 'close');
    if (read.status !== 200)
      return sendPage(pageCall, read.status, 'The form could not be read', html`<p>Open the page again and retry.</p>`);
    if (!this.guard.isOwn(request, read.fields['form'], this.origin))
      return sendPage(
        pageCall,
        403,
        'The form is out of date',
        html`<p>
          The form was not sent from this page, or your browser blocks cookies. Open the page again and retry.
        </p>`,
      );
    return found.answer({ ...pageCall, fields: read.fields });
  }

  /** All other paths are the library's: it is mounted below the issuer's path. */
  private async toProvider({ request, response, provider }: PageCall): Promise<void> {
    const original = request.url ?? '/';
    const mounted = request as IncomingMessage & { originalUrl?: string };
    mounted.originalUrl = original;
    mounted.url = original.slice(this.base.length) || '/';
    await provider.callback()(mounted, response);
  }

  private fail(response: ServerResponse, error: unknown, requestId: string): void {
    if (error instanceof AppError && error.kind === 'tooManyRequests' && !response.headersSent) {
      for (const [name, value] of Object.entries(error.headers ?? {})) response.setHeader(name, value);
      response.statusCode = 429;
      response.setHeader('content-type', 'text/html; charset=utf-8');
      return void response.end(page('Too many sign-ins', html`<p>${error.message}. Try again in a moment.</p>`));
    }
    const isAway = error instanceof AppError && error.kind === 'unavailable';
    this.logger.error(
      { requestId, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
      'sign-in page failed',
    );
    if (response.headersSent) return void response.destroy();
    response.statusCode = isAway ? 503 : 500;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(page('Something went wrong', html`<p>The error is on our side. Try again in a moment.</p>`));
  }
}
