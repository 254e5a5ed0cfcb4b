import type { EncryptionKey, EncryptionKeysEvent } from './encryption-keys.events.js';
import type { EncryptionKeysState } from './encryption-keys.state.js';

const DAY_MS = 86_400_000;
const PUBLISHED_DAYS = 30;

/**
 * When a replaced key is no longer accepted, and is destroyed: 24 hours after its successor was published. The metadata that names it must
 * be revalidated before each use (`no-cache`), so caches add nothing.
 */
export const replacedKeyDueAt = (successor: Pick<EncryptionKey, 'createdAt'>): Date =>
  new Date(Date.parse(successor.createdAt) + DAY_MS);

export const isKeyDue = (state: EncryptionKeysState, now: Date): boolean => {
  const newest = state.at(-1);
  return !newest || now >= new Date(newest.dueAt);
};

/** The tenant's first key, or one after a key that is due. */
export const createKey = (
  state: EncryptionKeysState,
  { keyId, x, y, now }: { keyId: string; x: string; y: string; now: Date },
): EncryptionKeysEvent[] => {
  if (!isKeyDue(state, now)) return [];
  const createdAt = now.toISOString();
  const dueAt = new Date(now.getTime() + PUBLISHED_DAYS * DAY_MS).toISOString();
  const replaced = state.at(-1);
  const data = { keyId, x, y, createdAt, dueAt, ...(replaced && { replacedKeyId: replaced.keyId }) };
  return [{ type: 'EncryptionKeyCreated', data }];
};

/** Whether requests encrypted to a key are accepted: the newest, and the one before it for a day. */
export const isKeyAccepted = (state: EncryptionKeysState, keyId: string, now: Date): boolean => {
  const at = state.findIndex((key) => key.keyId === keyId);
  const successor = state[at + 1];
  return at >= 0 && (!successor || now < replacedKeyDueAt(successor));
};

export const destroyReplacedKeys = (
  state: EncryptionKeysState,
  now: Date,
): Extract<EncryptionKeysEvent, { type: 'EncryptionKeyDestroyed' }>[] =>
  state
    .filter(({ keyId }) => !isKeyAccepted(state, keyId, now))
    .map(({ keyId }) => ({ type: 'EncryptionKeyDestroyed', data: { keyId } }));
