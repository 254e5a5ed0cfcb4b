import type { JsMsg } from '@nats-io/jetstream';
import type { FeedRecord } from '../consumer-feed.js';

/** Beginning of every body that a bus published; see Envelope. */
const BEGINNING = '{"h":';

/**
 * A message of the feed as stored. `undefined` when it was not published by a bus: a user with rights on JetStream may direct its replies
 * to any subject.
 */
export const feedRecord = (message: JsMsg, subject: string): FeedRecord | undefined => {
  const id = message.headers?.get('Nats-Msg-Id');
  const body = message.string();
  return id && body.startsWith(BEGINNING) ? [message.seq, id, subject, body] : undefined;
};
