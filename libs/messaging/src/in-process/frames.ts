/**
 * What travels between a bus and its broker. Bodies are JSON text, made once by the sender and parsed once by each
 * receiver, so a frame may be handed over by reference or through a MessagePort with the same effect.
 */

/** A stored message: sequence, id, subject, body (JSON of `{h: headers, d: data}`). */
export type FeedRecord = [sequence: number, id: string, subject: string, body: string];

/** A batch for a consumer; `replay` when it is one parked message handed over again. */
export interface Delivery {
  records: FeedRecord[];
  replay: boolean;
}

/** Where a request came from: connection and call number there. */
export type ReturnAddress = [connection: number, call: number];

export type ToBroker =
  | [type: 'serve', server: number, subject: string]
  | [type: 'unserve', server: number]
  | [type: 'request', call: number, subject: string, body: string]
  | [type: 'answer', to: ReturnAddress, body: string]
  | [type: 'expired', to: ReturnAddress]
  | [type: 'feed', call: number, method: keyof FeedCalls, args: unknown[]]
  | [type: 'goodbye'];

export type ToBus =
  | [type: 'unserved', server: number]
  | [type: 'request', from: ReturnAddress, server: number, body: string]
  | [type: 'answer', call: number, body: string]
  | [type: 'failed', call: number, reason: 'no-responder' | 'timeout']
  | [type: 'fed', call: number, result: unknown]
  | [type: 'feed-failed', call: number, message: string]
  | [type: 'closed'];

/** What a bus may ask of the feed; arguments and results are plain data. */
export interface FeedCalls {
  publish(messages: [id: string, subject: string, body: string][]): Promise<void>;
  /** Registers the consumer or finds it; resolves with the last acknowledged sequence (0: none). One holder at a time. */
  open(name: string, subjects: readonly string[], batchSize: number, start: 'first' | 'new'): Promise<number>;
  /** Acknowledges what is in hand up to `acknowledged`, then waits for the next batch; `null` after `wake`. */
  next(name: string, acknowledged: number | undefined): Promise<Delivery | null>;
  /** Ends a waiting `next`. */
  wake(name: string): Promise<void>;
  /** Parks a message and acknowledges it, in one transaction. */
  park(name: string, record: FeedRecord, attempts: number, error: string): Promise<void>;
  /** The replayed message was handled. */
  replayed(name: string, id: string): Promise<void>;
  /** Gives the consumer back; durable when it resolves. */
  leave(name: string, acknowledged: number | undefined): Promise<void>;
  parked(name: string): Promise<[record: FeedRecord, attempts: number, error: string, parkedAt: string][]>;
  replay(name: string, id: string): Promise<void>;
  head(): Promise<number>;
}
