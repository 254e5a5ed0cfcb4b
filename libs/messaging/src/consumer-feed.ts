import type { FeedMessage, Headers } from './message-bus.js';

/** A stored message: sequence, id, subject, body (JSON of {@link Envelope}). */
export type FeedRecord = [sequence: number, id: string, subject: string, body: string];

/** Stored and sent beside the subject. A Date becomes text, `undefined` is dropped, BigInt throws. */
export interface Envelope {
  h: Headers;
  d: unknown;
}

export type Start = 'first' | 'new' | 'listener';

/** Operations of a durable consumer on its feed; arguments and results are plain data, so that a port can carry them. */
export interface ConsumerFeed {
  /**
   * Registers the consumer or finds it; resolves with the last acknowledged sequence (0: none). One holder at a time. A listener begins
   * with new messages, or behind the last message that was delivered to it, and is stored nowhere.
   * @param epoch of the lease, where processes share the feed
   */
  openConsumer(
    name: string,
    subjects: readonly string[],
    batchSize: number,
    start: Start,
    epoch?: number,
  ): Promise<number>;
  /** Acknowledges the delivered messages up to `acknowledged`, then waits for the next batch; `null` after `wake`. */
  next(name: string, acknowledged: number | undefined): Promise<FeedRecord[] | null>;
  /** Ends a waiting `next`. */
  wake(name: string): Promise<void>;
  /** Releases the consumer; durable when it resolves. */
  leave(name: string, acknowledged: number | undefined): Promise<void>;
}

export const feedMessage = ([sequence, id, subject, body]: FeedRecord, attempt: number): FeedMessage => {
  const { h: headers, d: data } = JSON.parse(body) as Envelope;
  return { id, subject, headers, data, sequence: String(sequence), attempt };
};
