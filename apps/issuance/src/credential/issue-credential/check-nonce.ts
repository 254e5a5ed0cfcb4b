import { oauthError } from '@attestry/contracts';
import type { Macs } from '@attestry/keys';
import { verifyNonce, type KnownNonce } from '../../wallets/nonce/nonce.js';

/** OID4VCI §8.3.1.2: a c_nonce that this tenant never issued, or that has expired. */
export const checkNonce = (proven: readonly string[], tenantId: string, now: Date, macs: Macs): KnownNonce[] => {
  const nonces = new Map<string, KnownNonce>();
  for (const nonce of proven) {
    const known = nonces.get(nonce) ?? verifyNonce(macs, tenantId, nonce);
    if (!known || known.expiresAt.getTime() <= now.getTime())
      throw oauthError(
        'invalid_nonce',
        'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
        { check: 'check-nonce' },
      );
    nonces.set(nonce, known);
  }
  return [...nonces.values()];
};
