import { oauthError } from '@attestry/contracts';
import type { RegisteredWallet } from './wallets.events.js';

/** RFC 6749 §4.1.2.1, §5.2. @throws AppError 400 */
export const checkEnabled = ({ disabled }: RegisteredWallet): void => {
  if (disabled)
    throw oauthError('unauthorized_client', 'this issuer has disabled the wallet', { check: 'check-wallet' });
};

/**
 * In combined mode the key is bound by a DPoP proof at the PAR endpoint, not by a parameter (attestation-based client authentication §5.2).
 * @throws AppError 400
 */
export const checkDpopParameter = (wallet: RegisteredWallet | undefined, dpopJkt: string | undefined): void => {
  if (wallet?.rootCertificates && wallet.dpopRequired && dpopJkt !== undefined)
    throw oauthError('invalid_request', 'dpop_jkt must not be sent by a wallet whose DPoP key is attested', {
      check: 'check-wallet',
    });
};
