import { hash } from 'node:crypto';
import type { SingleUseValue } from './key-vault.js';

/** A single-use value as its store knows it. */
export interface Spend {
  /** SHA-256, base64url: no store contains the value. */
  digest: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/**
 * `undefined` when one of the values has expired or is given twice; which of them are spent only the store knows. Neither scopes nor
 * tenant ids contain a colon. @throws RangeError
 */
export const spendsOf = (tenantId: string, values: readonly SingleUseValue[], now: number): Spend[] | undefined => {
  const spends = new Map<string, Spend>();
  for (const { scope, value, expiresAt } of values) {
    const until = expiresAt.getTime();
    if (!Number.isFinite(until)) throw new RangeError('expiresAt is not a date');
    const full = `${scope}:${tenantId}`;
    const digest = hash('sha256', `${full.length}:${full}${value}`, 'base64url');
    if (until > now) spends.set(digest, { digest, expiresAt: until });
  }
  return spends.size === values.length ? [...spends.values()] : undefined;
};
