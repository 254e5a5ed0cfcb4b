import type { Operation } from '@attestry/contracts';
import { hostFetch } from './host-fetch.js';

export interface Answer<T = unknown> {
  status: number;
  headers: Headers;
  /** Parsed when the answer is JSON, else its text; undefined when it is empty. */
  body: T;
  text: string;
}

export interface RequestParts {
  headers?: Record<string, string>;
  query?: Record<string, string | number | readonly string[] | undefined>;
  /** Sent as JSON; a string or URLSearchParams as it is. */
  body?: unknown;
  /** Replaces the client's own; `null` sends none. */
  token?: string | null;
}

export interface OperationParts extends RequestParts {
  params?: Record<string, string>;
}

const REQUEST_ID = /^[0-9A-Za-z]{22}$/;
const WHOLE = /^\d+$/;

/** Requests to one host. Every answer is checked for the headers each must have. */
export class ApiClient {
  constructor(
    readonly baseUrl: string,
    readonly token?: string,
  ) {}

  /** @throws Error when an answer lacks `x-request-id` or one of the three rate limit headers */
  async request<T = unknown>(method: string, path: string, parts: RequestParts = {}): Promise<Answer<T>> {
    const url = new URL(this.baseUrl + path);
    for (const [name, value] of Object.entries(parts.query ?? {}))
      for (const one of Array.isArray(value) ? (value as string[]) : [value])
        if (one !== undefined) url.searchParams.append(name, String(one));
    const headers = new Headers(parts.headers);
    const token = parts.token === undefined ? this.token : parts.token;
    if (token && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
    let body: string | undefined;
    if (parts.body instanceof URLSearchParams) {
      body = parts.body.toString();
      if (!headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded');
    } else if (parts.body !== undefined) {
      body = typeof parts.body === 'string' ? parts.body : JSON.stringify(parts.body);
      if (!headers.has('content-type')) headers.set('content-type', 'application/json');
    }
    const response = await hostFetch(url, {
      method,
      headers,
      redirect: 'manual',
      ...(body !== undefined && { body }),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, body: parsed(response, text) as T };
    checkHeaders(`${method} ${url.href}`, answer);
    return answer;
  }

  /** Path, method and body type from the registry. */
  call<T = unknown>(operation: Operation, parts: OperationParts = {}): Promise<Answer<T>> {
    const { method, path } = operation.http!;
    const { params = {}, ...rest } = parts;
    return this.request(method, pathOf(path, params), rest);
  }

  as(token: string | undefined): ApiClient {
    return new ApiClient(this.baseUrl, token);
  }
}

/** A declared path with its parameters filled in, percent-encoded. */
export const pathOf = (path: string, params: Record<string, string> = {}): string =>
  path.replace(/:([A-Za-z]+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`${path}: no ${name}`);
    return encodeURIComponent(value);
  });

const parsed = (response: Response, text: string): unknown => {
  if (text === '') return undefined;
  const isJson = /^application\/(?:[a-z0-9.-]+\+)?json\b/.test(response.headers.get('content-type') ?? '');
  return isJson ? (JSON.parse(text) as unknown) : text;
};

const checkHeaders = (request: string, { status, headers }: Answer): void => {
  const lacking = [
    ['x-request-id', REQUEST_ID],
    ['x-ratelimit-limit', WHOLE],
    ['x-ratelimit-remaining', WHOLE],
    ['x-ratelimit-reset', WHOLE],
  ] as const;
  for (const [name, form] of lacking) {
    const value = headers.get(name);
    if (value === null || !form.test(value)) throw new Error(`${request} answered ${status} with ${name}: ${value}`);
  }
};

/** @throws Error that shows the answer, when its status is another */
export const expectStatus = <T>(answer: Answer<T>, status: number): T => {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
};
