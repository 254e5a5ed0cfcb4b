import {
  bodyKindOf,
  bodyLimitOf,
  deprecationHeaders,
  refusesUnknown,
  type HolderCaller,
  type HttpBinding,
  type Operation,
  type PublicCaller,
} from '@attestry/contracts';
import { allowsOrigins, CORS_HEADERS } from '../request/cors-headers.js';

/** Form of an error beside its content; known before the plan is, by the requested host. */
export interface AnswerShape {
  readonly errors: Operation['errors'];
  /** Headers of every answer, errors included. */
  readonly corsHeaders: Readonly<Record<string, string>>;
}

/** Treatment of the requests of one route (kind of host, method, path pattern); made at boot. */
export interface Plan extends AnswerShape {
  readonly operation: Operation;
  readonly allowsOrigins: boolean;
  /** Headers of every answer; absent unless the operation is deprecated. */
  readonly deprecation: Readonly<Record<string, string>> | undefined;
  /** Headers of an answer with the operation's result. */
  readonly headers: Readonly<Record<string, string>>;
  /** {@link headers} with the content type of a JSON body. */
  readonly jsonHeaders: Readonly<Record<string, string>>;
  readonly bodyKind: NonNullable<HttpBinding['body']>;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Whether unknown members of body and query are refused, unless the request prefers that they are dropped. */
  readonly refusesUnknown: boolean;
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Set where no credentials are read at the gateway. */
  readonly caller: HolderCaller | PublicCaller | undefined;
}

const NO_HEADERS = Object.freeze({});

/** Before a route is known. */
export const shapeOf = (errors: Operation['errors']): AnswerShape => ({ errors, corsHeaders: NO_HEADERS });

/** A wallet's code or token is checked by the service, and so is the secret in a token call, which is public. */
const callerOf = ({ access }: Operation): Plan['caller'] => {
  if (access.kind === 'public') return Object.freeze({ kind: 'public' });
  return access.kind === 'holder' ? Object.freeze({ kind: 'holder' }) : undefined;
};

/** @param operationTimeoutMs where the operation declares none */
export const planOf = (operation: Operation, operationTimeoutMs: number): Plan => {
  const http = operation.http!;
  const isOpen = allowsOrigins(operation);
  const corsHeaders = isOpen ? CORS_HEADERS : NO_HEADERS;
  const headers = Object.freeze({ 'cache-control': http.cacheControl ?? 'no-store', ...corsHeaders });
  return Object.freeze({
    operation,
    errors: operation.errors,
    allowsOrigins: isOpen,
    corsHeaders,
    deprecation: operation.deprecated && Object.freeze(deprecationHeaders(operation.deprecated)),
    headers,
    jsonHeaders: Object.freeze({ ...headers, 'content-type': http.mediaType ?? 'application/json; charset=utf-8' }),
    bodyKind: bodyKindOf(http),
    bodyLimit: bodyLimitOf(http),
    refusesUnknown: refusesUnknown(operation),
    timeoutMs: operation.timeoutMs ?? operationTimeoutMs,
    caller: callerOf(operation),
  });
};
