import type { Duration } from '@attestry/contracts';
import { addDuration, longestInDays } from '../settings/credential-configuration/validity.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Input for the times of one credential. */
export interface RequestedTimes {
  issuedAt: Date;
  /** Mapped from a claim; default: `issuedAt`. */
  validFrom?: Date;
  /** Mapped from a claim, or counted from `issuedAt`. */
  validUntil?: Date;
  /** Validity of the certificate whose key signs; a key of a DID has none. */
  signer?: { notBefore: Date; notAfter: Date };
  longestDays?: number;
}

/** Rounded. */
export interface CredentialTimes {
  /** `signed` of an mdoc, otherwise `iat`. */
  signed: Date;
  /** Never before `signed`; otherwise `nbf`. */
  validFrom: Date;
  /** Otherwise `exp`. */
  validUntil?: Date;
}

/** Times that no credential can have. The message is shown to the wallet. */
export class TimesFault extends Error {
  override readonly name = 'TimesFault';
}

/**
 * The times of a credential. Copies for one holder must not be linkable by them, so `signed` and `validFrom` are rounded down to the hour,
 * but never before the certificate of the signer; `validUntil` down to the day for lifetimes of two days or more, otherwise to the hour.
 * @throws TimesFault
 */
export const credentialTimes = (requested: RequestedTimes): CredentialTimes => {
  const { issuedAt, validUntil, signer, longestDays } = requested;
  if (signer && (issuedAt < signer.notBefore || issuedAt >= signer.notAfter))
    throw new TimesFault('the certificate of the signer is not valid at this time');
  const signed = latest(roundDown(issuedAt, HOUR), signer?.notBefore);
  const begin = latest(issuedAt, requested.validFrom);
  const validFrom = latest(roundDown(begin, HOUR), signed);
  if (!validUntil) return { signed, validFrom };
  const lifetime = validUntil.getTime() - begin.getTime();
  const end = roundDown(validUntil, lifetime >= 2 * DAY ? DAY : HOUR);
  if (end <= validFrom) throw new TimesFault('validUntil must be later than validFrom, rounded down to the hour');
  if (longestDays !== undefined && end.getTime() - validFrom.getTime() > longestDays * DAY)
    throw new TimesFault(`validUntil must be at most ${longestDays} days after validFrom`);
  if (signer && end > signer.notAfter)
    throw new TimesFault('validUntil must not be later than the end of the certificate of the signer');
  return { signed, validFrom, validUntil: end };
};

/** A configuration whose credentials could end before they begin, once rounded: `expiresIn` must be at least 2 hours. */
export const expiresTooSoon = (expiresIn: Duration): boolean => {
  const from = new Date(0);
  return addDuration(from, expiresIn).getTime() - from.getTime() < 2 * HOUR;
};

/**
 * Why credentials that are valid for so long from their issuance may outlive the certificate whose key signs them.
 * @param days that every signer guarantees
 */
export const lifetimeFault = (expiresIn: Duration, days: number): string | undefined => {
  const longest = Math.ceil(longestInDays(expiresIn));
  return longest > days
    ? `must be at most ${days} days, for which the certificate of every signer is valid; it can be ${longest} days`
    : undefined;
};

const roundDown = (date: Date, unit: number): Date => new Date(Math.floor(date.getTime() / unit) * unit);

const latest = (date: Date, other: Date | undefined): Date => (other && other > date ? other : date);
