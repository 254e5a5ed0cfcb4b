import { overdueKeys, succeed, type RotationFacts } from '@attestry/contracts';
import type { TokenKeysEvent } from './token-keys.events.js';
import type { TokenKeysState } from './token-keys.state.js';

/** The platform's first key. Once. */
export const chooseTokenKey = (
  state: TokenKeysState,
  { keyId }: { keyId: string },
  { now }: { now: string },
): TokenKeysEvent[] =>
  state.status === 'absent' ? [{ type: 'TokenKeyCreated', data: { keyId, createdAt: now } }] : [];

/** A new key after the one that signs; none while a rotation is in progress. */
export const rotateTokenKey = (
  state: TokenKeysState,
  { keyId }: { keyId: string },
  facts: RotationFacts,
): TokenKeysEvent[] => {
  const succession = state.status === 'active' ? succeed(state.keys, facts) : undefined;
  return succession ? [{ type: 'TokenKeyRotated', data: { keyId, ...succession } }] : [];
};

/** Keys whose tokens have all expired. */
export const retireTokenKeys = (state: TokenKeysState, { now }: { now: string }): TokenKeysEvent[] =>
  state.status === 'active'
    ? overdueKeys(state.keys, now).map(({ keyId }) => ({ type: 'TokenKeyRetired', data: { keyId } }))
    : [];

const DAY_MS = 86_400_000;

/** Whether the newest key is old enough to be replaced. @param days 0: never */
export const isTokenKeyDue = (state: TokenKeysState, days: number, now: string): boolean =>
  days > 0 && state.status === 'active' && Date.parse(state.keys.at(-1)!.signsFrom) + days * DAY_MS <= Date.parse(now);
