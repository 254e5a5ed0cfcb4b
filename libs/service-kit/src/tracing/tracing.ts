/**
 * Traces, as the rest of the code sees them. The context is a `traceparent` (W3C Trace Context) that travels where the
 * request context does: in message headers and in the metadata of events. Parents are therefore always explicit, no
 * context manager is needed, and while tracing is off nothing is done at all.
 */
export interface SpanStart {
  kind: 'server' | 'client' | 'internal' | 'consumer';
  /** A `traceparent`; without one a new trace begins. */
  parent?: string | undefined;
  /** Milliseconds since the epoch; default now. */
  startTime?: number;
  attributes?: Attributes;
}

/** Names, counts and ids only: never a body, a token, an address or what is known about a person. */
export type Attributes = Record<string, string | number | boolean>;

export interface SpanEnd {
  /** A word for what went wrong; absent when nothing did. */
  error?: string;
  attributes?: Attributes;
}

export interface Span {
  /** For what is caused by it. */
  readonly traceparent: string;
  end(result?: SpanEnd): void;
}

export abstract class Tracing {
  /** Asked before {@link start}, so that attributes are not even built in vain. */
  abstract readonly on: boolean;
  abstract start(name: string, options: SpanStart): Span;
  /** Sends what is left. */
  abstract close(): Promise<void>;
}

export class NoTracing extends Tracing {
  readonly on = false;

  start(name: string): Span {
    throw new Error(`span ${name} while tracing is off`);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** W3C Trace Context §3.2.2, version 00. */
export const isTraceparent = (text: unknown): text is string => typeof text === 'string' && TRACEPARENT.test(text);

/** The trace id in a traceparent, 32 hexadecimal digits. */
export const traceIdOf = (traceparent: string): string => traceparent.slice(3, 35);

/** Whether a parent's trace is recorded: only then its children are worth a span. */
export const isSampled = (traceparent: string | undefined): traceparent is string =>
  traceparent !== undefined && (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
