import type { ConsumerFeed, FeedRecord } from '../consumer-feed.js';

/**
 * What travels between a bus and its broker. Bodies are JSON text, made once by the sender and parsed once by each
 * receiver, so a frame may be handed over by reference or through a MessagePort with the same effect.
 */

/** Where a request came from: connection and call number there. */
export type ReturnAddress = [connection: number, call: number];

export type ToBroker =
  | [type: 'serve', server: number, subject: string]
  | [type: 'unserve', server: number]
  | [type: 'request', call: number, subject: string, body: string, from: string, isChecked: boolean]
  | [type: 'answer', to: ReturnAddress, body: string]
  | [type: 'expired', to: ReturnAddress]
  | [type: 'feed', call: number, method: keyof FeedCalls, args: unknown[]]
  | [type: 'goodbye'];

export type ToBus =
  | [type: 'unserved', server: number]
  | [type: 'request', back: ReturnAddress, server: number, body: string, from: string, isChecked: boolean]
  | [type: 'answer', call: number, body: string]
  | [type: 'failed', call: number, reason: 'no-responder' | 'timeout']
  | [type: 'fed', call: number, result: unknown]
  | [type: 'feed-failed', call: number, message: string]
  | [type: 'closed'];

/** What a bus may ask of the feed. */
export interface FeedCalls extends ConsumerFeed {
  publish(messages: [id: string, subject: string, body: string][]): Promise<void>;
  parked(name: string): Promise<[record: FeedRecord, attempts: number, error: string, parkedAt: string][]>;
  replay(name: string, id: string): Promise<void>;
  head(): Promise<number>;
}
