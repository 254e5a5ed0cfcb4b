import type { JsMsg } from '@nats-io/jetstream';
import type { FeedRecord } from '../consumer-feed.js';

/** How every body begins that a bus published; see Envelope. */
const BEGINNING = '{"h":';

/**
 * A message of the feed as stored. `undefined` for what no bus published: whoever may ask JetStream for anything may have its
 * answer sent to any subject.
 */
export const feedRecord = (message: JsMsg, subject: string): FeedRecord | undefined => {
  const id = message.headers?.get('Nats-Msg-Id');
  const body = message.string();
  return id && body.startsWith(BEGINNING) ? [message.seq, id, subject, body] : undefined;
};
