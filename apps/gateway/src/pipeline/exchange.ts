import type { FastifyReply, FastifyRequest } from 'fastify';
import type { BegunRecord, OperationContext, OperationRequest } from '@attestry/contracts';
import type { FoundDocument } from '../documents/public-documents.js';
import type { IdentifiedCaller, TokenSubject } from '../auth/authenticate.js';
import type { ResolvedHost } from '../request/hosts.js';
import type { ObservedRequest } from '../request/observe-requests.js';
import type { RateState } from '../request/rate-limits.js';
import type { InFlight } from '../request/requests-in-flight.js';
import type { Answer } from './answer.js';
import type { AnswerShape, Plan } from './plan.js';

declare module 'fastify' {
  interface FastifyRequest {
    exchange: Exchange;
  }
}

/** State once the head of the request has arrived. */
export interface Received {
  request: FastifyRequest;
  reply: FastifyReply;
  requestId: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Key by which rate limits count the caller's IP address. */
  address: string;
  /** `Host`, or `X-Forwarded-Host` of a trusted proxy. */
  hostHeader: string | undefined;
  /** Whether the request came through a trusted proxy. */
  isForwarded: boolean;
  /** Trace that a trusted proxy sent. */
  traceparent: string | undefined;
}

/** State of the steps from START to the outcome: of a request, or of a call without a request. */
export interface Call {
  readonly plan: Pick<Plan, 'operation'>;
  context: OperationContext;
  /** Parsed, not checked. */
  sent?: OperationRequest;
  /** In the declared shape, frozen. */
  checked?: OperationRequest;
  /** Set when the call is recorded. */
  recorded?: BegunRecord & { hasOutcome: boolean };
  /** Work of the service for the call; an aborted connection does not end it. */
  work?: Promise<unknown>;
  /** Result of the service. */
  result?: unknown;
}

/** One request and its answer. Each step adds what it finds; the types below name what is known after which step. */
export interface Exchange extends Readonly<Received>, Omit<Call, 'plan' | 'context'> {
  readonly path: string;
  readonly observed: ObservedRequest;
  /** Milliseconds since the epoch; the operation's own once the route is known. */
  deadline: number;
  /** How errors look; the operation's own once the route is known. */
  shape: AnswerShape;
  /** State of the limit that the request was counted against last. */
  rate?: RateState;
  /** Absent for health, which is never refused. */
  inFlight?: InFlight;
  host?: ResolvedHost;
  plan?: Plan;
  params?: Record<string, string>;
  caller?: IdentifiedCaller | undefined;
  context?: OperationContext;
  /** Parsed when it is first used. */
  body?: { value: unknown };
  /** Unknown members were dropped because the request prefers it (RFC 7240). */
  isLenient?: boolean;
  /** Client id in the body of a token call; `user:` and the id of the person in a token exchange. */
  tokenClientId?: string;
  /** Set for a token exchange. */
  subject?: TokenSubject & { audience: string };
  /** Instead of `result`, where the service returned a public document. */
  document?: FoundDocument;
  answer?: Answer;
}

type Known<E extends Exchange, Names extends keyof Exchange> = E & Required<Pick<Exchange, Names>>;
/** After `checkTarget`: the host is served. */
export type Hosted = Known<Exchange, 'host'>;
/** After `findRoute`. */
export type Routed = Known<Hosted, 'plan' | 'params'>;
/** After `identifyCaller`, or `findRoute` where the plan has the caller. */
export type Identified = Known<Routed, 'caller'>;
/** After `openContext`: the body may be read and the operation called. */
export type Admitted = Known<Identified, 'context'>;

export const isAdmitted = (exchange: Exchange): exchange is Admitted => exchange.context !== undefined;

/** Splits a request target at the question mark. */
export const pathOf = (url: string): string => url.split('?', 1)[0]!;
