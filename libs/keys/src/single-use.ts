import { hash } from 'node:crypto';
import type { SingleUseValue } from './key-vault.js';

/** A single-use value as its store knows it. */
export interface Spend {
  /** SHA-256, base64url: no store contains the value. */
  digest: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Neither scopes nor tenant ids contain a colon. @throws RangeError */
export const spendOf = (tenantId: string, { scope, value, expiresAt }: SingleUseValue): Spend => {
  const until = expiresAt.getTime();
  if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
  const full = `${scope}:${tenantId}`;
  return { digest: hash('sha256', `${full.length}:${full}${value}`, 'base64url'), expiresAt: until };
};

/** Whether the values differ and none has expired; which of them are spent only the store knows. */
export const areUsable = (spends: readonly Spend[], now: number): boolean =>
  new Set(spends.map(({ digest }) => digest)).size === spends.length &&
  spends.every(({ expiresAt }) => expiresAt > now);
