import { oauthError } from '@attestry/contracts';
import { jwkThumbprint } from '@attestry/keys';
import type { VerifiedProof } from './verify-jwt-proof.js';

/** OID4VCI §8.3: each credential of a batch is bound to a different key. */
export const checkDistinctKeys = (proofs: readonly VerifiedProof[]): void => {
  if (proofs.length === 1) return;
  const keys = new Set(proofs.map(({ holder }) => jwkThumbprint(holder.publicJwk)));
  if (keys.size !== proofs.length)
    throw oauthError('invalid_proof', 'each proof must have a different key', { check: 'check-distinct-keys' });
};
