import type { StoredX509 } from './mobile-certificates.events.js';

const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** Times between which a certificate is valid. */
export interface Validity {
  notBefore: Date;
  notAfter: Date;
}

/** From when a certificate is valid by default: a verifier's clock may be behind. */
export const beginOfHour = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS);
export const wholeSecond = (time: Date): Date => new Date(Math.floor(time.getTime() / 1000) * 1000);
export const yearsAfter = (time: Date, years: number): Date => {
  const later = new Date(time);
  later.setUTCFullYear(later.getUTCFullYear() + years);
  return later;
};

/** Why one that has ended cannot be active. */
export const endFault = ({ data }: StoredX509): string =>
  `must be false, because the certificate ended at ${data.notAfter}`;

export const hasEnded = ({ data }: Pick<StoredX509, 'data'>, now: Date): boolean => now >= new Date(data.notAfter);
export const isValid = (one: Pick<StoredX509, 'data'>, now: Date): boolean =>
  now >= new Date(one.data.notBefore) && !hasEnded(one, now);
