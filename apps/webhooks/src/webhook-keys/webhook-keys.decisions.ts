import { notFound } from '@attestry/contracts';
import type { WebhookKeysEvent } from './webhook-keys.events.js';
import type { PublishedKey, WebhookKeysState } from './webhook-keys.state.js';

/** The key that signs at a time. `keys` is never empty, and its first signs from the beginning. */
export const signingKeyAt = (keys: readonly PublishedKey[], now: string): PublishedKey =>
  keys.findLast(({ signsFrom }) => signsFrom <= now) ?? keys[0]!;

export const publishedAt = (keys: readonly PublishedKey[], now: string): PublishedKey[] =>
  keys.filter(({ publishedUntil }) => publishedUntil === undefined || now < publishedUntil);

/** The tenant's first key. Once. */
export const chooseKey = (
  state: WebhookKeysState,
  { keyId }: { keyId: string },
  facts: { now: string },
): WebhookKeysEvent[] =>
  state.status === 'absent' ? [{ type: 'WebhookKeyChosen', data: { keyId, chosenAt: facts.now } }] : [];

export interface RotationFacts {
  now: string;
  /** How long a new key is published before it signs: as long as a copy of the key set may be cached, seconds. */
  leadSeconds: number;
  /** How long a key is published after the last signature with it, seconds. */
  overlapSeconds: number;
}

const later = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1000).toISOString();

/**
 * A new key after the one that signs. Nothing while the newest does not sign yet: that rotation is under way, and a
 * repeated request means the same one. @throws 404 when the tenant has no key
 */
export const rotateKey = (
  state: WebhookKeysState,
  { keyId }: { keyId: string },
  { now, leadSeconds, overlapSeconds }: RotationFacts,
): WebhookKeysEvent[] => {
  if (state.status !== 'living') throw notFound();
  const newest = state.keys.at(-1)!;
  if (newest.signsFrom > now) return [];
  const signsFrom = later(now, leadSeconds);
  const overlapEndsAt = later(signsFrom, overlapSeconds);
  const previousKeyId = newest.keyId;
  return [{ type: 'WebhookKeyRotated', data: { keyId, previousKeyId, rotatedAt: now, signsFrom, overlapEndsAt } }];
};

/** Whose overlap is over. */
export const retireKeys = (state: WebhookKeysState, { now }: { now: string }): WebhookKeysEvent[] =>
  state.status !== 'living'
    ? []
    : state.keys
        .filter(({ publishedUntil }) => publishedUntil !== undefined && publishedUntil <= now)
        .map(({ keyId }) => ({ type: 'WebhookKeyRetired', data: { keyId } }));

export const endKeys = (state: WebhookKeysState): WebhookKeysEvent[] =>
  state.status === 'living' ? [{ type: 'WebhookKeysEnded', data: {} }] : [];
