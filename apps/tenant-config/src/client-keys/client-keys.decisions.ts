import { overdueKeys, succeed, type RotationFacts } from '@attestry/contracts';
import type { ClientKeysEvent } from './client-keys.events.js';
import type { ClientKeysState } from './client-keys.state.js';

const DAY_MS = 86_400_000;

/** The tenant's first key. Once. */
export const chooseKey = (
  { keys }: ClientKeysState,
  { keyId }: { keyId: string },
  facts: { now: string },
): ClientKeysEvent[] => (keys.length > 0 ? [] : [{ type: 'ClientKeyCreated', data: { keyId, createdAt: facts.now } }]);

/** Whether the newest key is so old that another one is due. @param maxDays 0: never */
const isDue = ({ keys }: ClientKeysState, { now, maxDays }: { now: string; maxDays: number }): boolean => {
  const newest = keys.at(-1);
  return maxDays > 0 && newest !== undefined && Date.parse(newest.signsFrom) + maxDays * DAY_MS <= Date.parse(now);
};

/** A new key after an old one; none while the newest is not due. */
export const rotateKey = (
  state: ClientKeysState,
  { keyId }: { keyId: string },
  facts: RotationFacts & { maxDays: number },
): ClientKeysEvent[] => {
  const succession = isDue(state, facts) ? succeed(state.keys, facts) : undefined;
  return succession ? [{ type: 'ClientKeyRotated', data: { keyId, ...succession } }] : [];
};

/** Keys whose overlap is over. */
export const retireKeys = ({ keys }: ClientKeysState, { now }: { now: string }): ClientKeysEvent[] =>
  overdueKeys(keys, now).map(({ keyId }) => ({ type: 'ClientKeyRetired', data: { keyId } }));
