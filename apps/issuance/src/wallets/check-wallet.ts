import { oauthError } from '@attestry/contracts';
import type { RegisteredWallet } from './wallets.events.js';

/** RFC 6749 §4.1.2.1, §5.2. @throws AppError 400 */
export const checkEnabled = ({ disabled }: RegisteredWallet): void => {
  if (disabled)
    throw oauthError('unauthorized_client', 'this issuer has disabled the wallet', { check: 'check-wallet' });
};

/**
 * The only place that decides about wallets that must attest themselves: while client attestation is not built, they are refused, because
 * without it anyone can use their client id.
 * @throws AppError 401
 */
export const checkClientAttestation = ({ rootCertificates }: RegisteredWallet): void => {
  if (rootCertificates)
    throw oauthError('invalid_client', 'the wallet must attest itself, and client attestation is not supported yet', {
      check: 'check-wallet',
    });
};
