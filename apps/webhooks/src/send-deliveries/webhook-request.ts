import { createHash } from 'node:crypto';
import type { WebhookEventType } from '@attestry/contracts';
import type { Signer } from '@attestry/keys';
import { httpbis } from 'http-message-signatures';

/** What a receiver gets as JSON. `deliveryId` is new for each attempt, `event.id` the same: the key to dedupe by. */
export interface WebhookEnvelope {
  /** uuid */
  deliveryId: string;
  /** RFC 3339 */
  deliveryTimestamp: string;
  webhookId: string;
  event: { id: string; type: WebhookEventType; timestamp: string; payload: object };
}

/** Seconds a signature is good for. */
const SIGNATURE_SECONDS = 300;

/**
 * The request of one attempt: body with digest (RFC 9530 §2) and signature (RFC 9421) over method, target, media type
 * and digest, label `sig1`, tag `webhook`.
 */
export const webhookRequest = async (
  url: string,
  envelope: WebhookEnvelope,
  facts: { attempt: number; now: Date; signer: Signer },
): Promise<{ headers: Record<string, string>; body: string }> => {
  const { attempt, now, signer } = facts;
  const body = JSON.stringify(envelope);
  const digest = createHash('sha256').update(body).digest('base64');
  const signed = await httpbis.signMessage(
    {
      name: 'sig1',
      key: {
        id: signer.keyId,
        alg: 'ed25519',
        sign: (data) => Promise.resolve(Buffer.from(signer.sign(data))),
      },
      fields: ['@method', '@target-uri', 'content-type', 'content-digest'],
      params: ['created', 'expires', 'keyid', 'alg', 'tag'],
      paramValues: { created: now, expires: new Date(now.getTime() + SIGNATURE_SECONDS * 1000), tag: 'webhook' },
    },
    {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', 'content-digest': `sha-256=:${digest}:` },
    },
  );
  return {
    headers: {
      ...(signed.headers as Record<string, string>),
      'x-webhook-id': envelope.webhookId,
      'x-webhook-event-type': envelope.event.type,
      'x-webhook-attempt': String(attempt),
    },
    body,
  };
};
