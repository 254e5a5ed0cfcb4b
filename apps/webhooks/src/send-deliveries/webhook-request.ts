import { hash } from 'node:crypto';
import type { WebhookEventType } from '@attestry/contracts';
import type { Signer } from '@attestry/keys';
import { httpbis } from 'http-message-signatures';
import { LRUCache } from 'lru-cache';

/** The JSON that a receiver gets. `deliveryId` is new for each attempt, `event.id` the same: the key for deduplication. */
export interface WebhookEnvelope {
  /** uuid */
  deliveryId: string;
  /** RFC 3339 */
  deliveryTimestamp: string;
  webhookId: string;
  event: { id: string; type: WebhookEventType; timestamp: string; payload: object };
}

/** Lifetime of a signature, seconds. */
const SIGNATURE_SECONDS = 300;

/** Not a digest, and in none of the other parts: a URL has no such character. */
const DIGEST = '\u2026';
/** Signature base without the digest, and the header that describes it. */
interface Frame {
  before: string;
  after: string;
  signatureInput: string;
}
/** Frames by target, for this second. */
const frames = new LRUCache<string, Promise<Frame>>({ max: 1000 });

/** RFC 9421 §2.5: all requests of one second to one target differ only in their digest. */
const frame = async (url: string, keyId: string, created: Date): Promise<Frame> => {
  let base = '';
  const { headers } = await httpbis.signMessage(
    {
      name: 'sig1',
      key: {
        id: keyId,
        alg: 'ed25519',
        sign: (data) => {
          base = data.toString('utf8');
          return Promise.resolve(Buffer.alloc(0));
        },
      },
      fields: ['@method', '@target-uri', 'content-type', 'content-digest'],
      params: ['created', 'expires', 'keyid', 'alg', 'tag'],
      paramValues: { created, expires: new Date(created.getTime() + SIGNATURE_SECONDS * 1000), tag: 'webhook' },
    },
    { method: 'POST', url, headers: { 'content-type': 'application/json', 'content-digest': DIGEST } },
  );
  const [before, after, ...others] = base.split(DIGEST);
  if (before === undefined || after === undefined || others.length)
    throw new Error('the signature base does not name the digest once');
  return { before, after, signatureInput: (headers as Record<string, string>)['Signature-Input']! };
};

const frameOf = (url: string, keyId: string, now: Date): Promise<Frame> => {
  const key = `${Math.floor(now.getTime() / 1000)} ${keyId} ${url}`;
  let known = frames.get(key);
  if (!known) frames.set(key, (known = frame(url, keyId, now)));
  return known;
};

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
  const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
  const { before, after, signatureInput } = await frameOf(url, signer.keyId, now);
  const signature = Buffer.from(await signer.signAside(Buffer.from(before + digest + after))).toString('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'content-digest': digest,
      Signature: `sig1=:${signature}:`,
      'Signature-Input': signatureInput,
      'x-webhook-id': envelope.webhookId,
      'x-webhook-event-type': envelope.event.type,
      'x-webhook-attempt': String(attempt),
    },
    body,
  };
};
