import { invalid, MAX_CLAIM_SETS_BYTES, type ErrorDetail, type OfferRequest } from '@attestry/contracts';
import { checkCredentials, type CheckedEntry } from '../../claims/claim-sets/check-credentials.js';

const DAY_MS = 86_400_000;
export const DEFAULT_OFFER_DAYS = 30;
export const MAX_OFFER_DAYS = 365;

export interface CheckedOffer {
  entries: CheckedEntry[];
  /** RFC 3339. Absent for an offer that is not stored. */
  expiresAt?: string;
}

const fault = (param: string, msg: string, value?: unknown): ErrorDetail => ({
  ...(value !== undefined && { value }),
  msg,
  param,
  location: 'body',
});

/**
 * Claim sets, a user or an expiry are what an offer is stored for.
 * @throws AppError 400 with a detail per fault; details never contain claim values
 */
export const checkOffer = ({ credentials, userId, expiresAt }: OfferRequest, now: Date): CheckedOffer => {
  const { entries, details } = checkCredentials(credentials);
  const claimSets = entries.flatMap((entry) => entry.claimSets);
  // Each session gets a copy.
  if (Buffer.byteLength(JSON.stringify(claimSets)) > MAX_CLAIM_SETS_BYTES)
    details.push(fault('credentials', 'must have at most 384 KiB of claim sets'));
  const latest = now.getTime() + MAX_OFFER_DAYS * DAY_MS;
  const end = expiresAt === undefined ? now.getTime() + DEFAULT_OFFER_DAYS * DAY_MS : Date.parse(expiresAt);
  if (!(end > now.getTime() && end <= latest))
    details.push(fault('expiresAt', `must be in the future and at most ${MAX_OFFER_DAYS} days from now`, expiresAt));
  if (details.length) throw invalid(...details);
  const isStored = claimSets.length > 0 || userId !== undefined || expiresAt !== undefined;
  return { entries, ...(isStored && { expiresAt: new Date(end).toISOString() }) };
};
