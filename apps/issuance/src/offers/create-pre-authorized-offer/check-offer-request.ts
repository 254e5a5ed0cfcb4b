import {
  invalid,
  MAX_CLAIMS_BYTES,
  MAX_OFFER_BYTES,
  tooLarge,
  type ErrorDetail,
  type PreAuthorizedOfferRequest,
} from '@attestry/contracts';
import { checkCredentials, type CheckedEntry } from '../../claims/claim-sets/check-credentials.js';

export const DEFAULT_OFFER_SECONDS = 300;
export const MAX_OFFER_SECONDS = 600;

export interface CheckedOfferRequest {
  entries: CheckedEntry[];
  seconds: number;
  claims: Record<string, unknown>;
  /** The part of `claims` to keep on the user. */
  stored: Record<string, unknown>;
}

const fault = (param: string, msg: string, value?: unknown): ErrorDetail => ({
  ...(value !== undefined && { value }),
  msg,
  param,
  location: 'body',
});

/** @throws AppError 413 over 500 KB, 400 with a detail per fault; details never contain claim values */
export const checkOfferRequest = (request: PreAuthorizedOfferRequest): CheckedOfferRequest => {
  if (Buffer.byteLength(JSON.stringify(request)) > MAX_OFFER_BYTES) throw tooLarge('the offer', MAX_OFFER_BYTES);
  const details: ErrorDetail[] = [];

  const { entries, details: faults } = checkCredentials(request.credentials);
  details.push(...faults);

  const { expiresIn } = request;
  const seconds = expiresIn ? (expiresIn.minutes ?? 0) * 60 + (expiresIn.seconds ?? 0) : DEFAULT_OFFER_SECONDS;
  if (!(seconds > 0 && seconds <= MAX_OFFER_SECONDS))
    details.push(fault('expiresIn', 'must be more than 0 and at most 10 minutes, as minutes and seconds', expiresIn));

  const description = request.transactionCodeConfiguration?.description;
  // It becomes part of a URI, which cannot encode a lone surrogate.
  if (description !== undefined && description !== null && !description.isWellFormed())
    details.push(fault('transactionCodeConfiguration.description', 'must be well-formed Unicode'));

  const claims = request.claims ?? {};
  const stored: Record<string, unknown> = {};
  for (const name of request.claimsToPersist ?? []) {
    if (!Object.hasOwn(claims, name))
      details.push(fault('claimsToPersist', 'must be the name of a member of claims', name));
    else
      Object.defineProperty(stored, name, {
        value: claims[name],
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  if (Buffer.byteLength(JSON.stringify(stored)) > MAX_CLAIMS_BYTES)
    details.push(fault('claimsToPersist', 'must name at most 384 KiB of claims'));

  if (details.length) throw invalid(...details);
  return { entries, seconds, claims, stored };
};
