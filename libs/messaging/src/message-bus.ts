/**
 * The messaging port: request/reply between services and a durable feed of events. Adapters: in-process/ (with a feed
 * in SQLite), nats/ (with JetStream). Every adapter passes messaging.contract.ts. Every message is serialized, so that no
 * call can rely on being in the same process.
 */

/** Lower-case words, joined by dots: `op.dids.create-did`, `event.management.tenant-created`. */
export type Subject = string;

export interface Headers {
  [name: string]: string;
}

/** The only error that crosses process borders (architecture, One error value); see AppError in libs/contracts. */
export interface WireError {
  kind: string;
  code: string;
  message: string;
  details?: unknown;
}

export type Reply<T = unknown> = { ok: true; data: T } | { ok: false; error: WireError };

export interface RequestOptions {
  headers?: Headers;
  /**
   * Milliseconds; the deadline is sent in the header `deadline` (milliseconds since the epoch). An earlier deadline already in `headers`
   * wins, so that a service which passes its caller's headers on never outlives its caller.
   */
  timeoutMs: number;
  /**
   * Sender of the request, passed to the server of the subject. Lower-case words; default {@link UNNAMED_CALLER}. A service's bus sets it (see
   * RestrictedBus), and a NATS server can enforce that no user sends in another's name.
   */
  from?: string;
}

/** Sender of a request without one. */
export const UNNAMED_CALLER = 'nobody';

/**
 * The subject has no server (`no-responder`), no reply arrived in time (`timeout`), the connection is lost (`disconnected`), or the bus is
 * closed. Nothing is re-sent.
 */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';
  constructor(
    readonly reason: 'no-responder' | 'timeout' | 'disconnected' | 'closed',
    readonly subject: Subject,
  ) {
    super(`${subject}: ${reason}`);
  }
}

/** The reply of a server that failed unexpectedly. */
export const INTERNAL_ERROR: WireError = { kind: 'internal', code: 'InternalError', message: 'Internal error' };

/** Called with every failure that has no caller; `subject` is the request's, or the feed's or consumer's name. */
export type OnError = (subject: Subject, error: unknown) => void;

/** A message to publish. `id` is the event id: publishing the same id again within the adapter's window has no effect. */
export interface OutgoingMessage {
  id: string;
  subject: Subject;
  headers?: Headers;
  data: unknown;
}

export interface FeedMessage<T = unknown> extends OutgoingMessage {
  data: T;
  headers: Headers;
  /** Grows with every message of the feed; a decimal string that compares by length, then text. */
  sequence: string;
  /** 1 at the first delivery; counted again after a restart. */
  attempt: number;
}

export interface ConsumerOptions {
  /** Permanent: names the durable checkpoint. */
  name: string;
  /** Exact subjects or prefixes ending in `.>` */
  subjects: readonly Subject[];
  /** Most messages per delivery. Default 256. */
  batchSize?: number;
  /** Milliseconds of pause after a batch that was not full, so that a few messages are batched. Default 0. */
  restMs?: number;
  /** Where a new consumer starts. Default `first`. */
  start?: 'first' | 'new';
  retry?: {
    /** Milliseconds before the second attempt; doubles, with jitter. Default 100. */
    initialDelayMs?: number;
    /** Default 5,000. */
    maxDelayMs?: number;
  };
  /**
   * Called each time this process starts to consume, before the first batch: its memory of earlier messages may be older than what another
   * process has done since. When it rejects, it is retried.
   * @param acknowledged sequence of the last message that was handled, by whichever process
   */
  onHeld?: (acknowledged: string | undefined) => Promise<void>;
}

export interface ListenerOptions {
  /** For health and log. */
  name: string;
  /** Exact subjects or prefixes ending in `.>` */
  subjects: readonly Subject[];
}

export interface ConsumerHealth {
  name: string;
  /** False while the last attempt failed. */
  healthy: boolean;
  /** Message of the last failure, while unhealthy. */
  error?: string;
  /** Sequence of the last message acknowledged. */
  acknowledged?: string;
}

export interface Consumer {
  readonly health: ConsumerHealth;
  /** True while this process consumes. */
  readonly isHeld: boolean;
  /** Stops and waits for the current batch. What it acknowledged stays acknowledged. */
  close(): Promise<void>;
}

/** One server of a subject. */
export interface Serving {
  /** Accepts no further request and waits for those in flight. */
  close(): Promise<void>;
}

/** `from`: the sender, authenticated by the bus; headers are unverified statements of the sender. */
export type RequestHandler = (data: unknown, headers: Headers, from: string) => Promise<Reply>;

export abstract class MessageBus {
  /**
   * Serves a subject; of several servers of a subject (a queue group) one gets each request. A request whose deadline
   * has passed does not reach the handler. What a handler throws never reaches the caller: the reply is then
   * {@link INTERNAL_ERROR}, and the cause goes to the adapter's `onError(subject, error)`.
   */
  abstract serve(subject: Subject, handler: RequestHandler): Serving;

  /**
   * Sends a request to one server of a subject. The reply's data is what the server returned, serialized and parsed.
   * @throws RequestFailed
   */
  abstract request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>>;

  /** Appends to the durable feed; all messages are on the disk when it resolves. Order within one call is kept. */
  abstract publish(messages: readonly OutgoingMessage[]): Promise<void>;

  /**
   * Runs a named durable consumer: batches in order, at least once, the checkpoint stored after the handler resolved. When a handler
   * rejects, it is called again with the same messages after a back-off; other consumers continue.
   */
  abstract consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer;

  /**
   * Delivers every message published from now on, in every process that listens; nothing is stored, and a handler that rejects is called
   * again. While it is `healthy` no message is missing; messages of an interruption arrive late.
   */
  abstract listen(options: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer;

  /** Sequence of the newest message of the feed, `undefined` while it is empty. */
  abstract head(): Promise<string | undefined>;

  /**
   * Accepts no further requests of other participants, waits for those in flight and for the current batches (which may still request and
   * publish), then closes: later calls fail with `closed`.
   */
  abstract close(): Promise<void>;
}
