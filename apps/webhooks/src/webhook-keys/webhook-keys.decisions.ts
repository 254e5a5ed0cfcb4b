import { notFound, overdueKeys, succeed, type RotationFacts } from '@attestry/contracts';
import type { WebhookKeysEvent } from './webhook-keys.events.js';
import type { WebhookKeysState } from './webhook-keys.state.js';

/** The tenant's first key. Once. */
export const chooseKey = (
  state: WebhookKeysState,
  { keyId }: { keyId: string },
  facts: { now: string },
): WebhookKeysEvent[] =>
  state.status === 'absent' ? [{ type: 'WebhookKeyCreated', data: { keyId, createdAt: facts.now } }] : [];

/**
 * A new key after the one that signs. None while the newest does not sign yet: that rotation is in progress, and a retried request means
 * the same one. @throws 404 when the tenant has no key
 */
export const rotateKey = (
  state: WebhookKeysState,
  { keyId }: { keyId: string },
  facts: RotationFacts,
): WebhookKeysEvent[] => {
  if (state.status !== 'active') throw notFound();
  const succession = succeed(state.keys, facts);
  return succession ? [{ type: 'WebhookKeyRotated', data: { keyId, ...succession } }] : [];
};

/** Keys whose overlap is over. */
export const retireKeys = (state: WebhookKeysState, { now }: { now: string }): WebhookKeysEvent[] =>
  state.status !== 'active'
    ? []
    : overdueKeys(state.keys, now).map(({ keyId }) => ({ type: 'WebhookKeyRetired', data: { keyId } }));

export const endKeys = (state: WebhookKeysState): WebhookKeysEvent[] =>
  state.status === 'active' ? [{ type: 'WebhookKeysEnded', data: {} }] : [];
