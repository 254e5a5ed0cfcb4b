/**
 * Traces. The context is a `traceparent` (W3C Trace Context) that is passed with the request context: in message headers and in the
 * metadata of events. Parents are therefore always explicit, no context manager is needed, and while tracing is off it costs nothing.
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
  /** Error in one word; absent on success. */
  error?: string;
  attributes?: Attributes;
}

export interface Span {
  /** Parent of spans that it causes. */
  readonly traceparent: string;
  end(result?: SpanEnd): void;
}

export abstract class Tracing {
  /** Checked before {@link start}, so that attributes are not built in vain. */
  abstract readonly on: boolean;
  abstract start(name: string, options: SpanStart): Span;
  /** Sends the remaining spans. */
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

/** Whether a parent's trace is recorded: only then its children need spans. */
export const isSampled = (traceparent: string | undefined): traceparent is string =>
  traceparent !== undefined && (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1;
