import { oauthError } from '@attestry/contracts';
import type { IssuanceSessionState } from '../issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../wallets/wallets.events.js';

/** A wallet that was deleted since its authorization request is no client any more (RFC 6749 §5.2). @throws AppError 401 */
export const checkRegistration = (
  state: IssuanceSessionState,
  clientId: string | undefined,
  wallet: RegisteredWallet | undefined,
): void => {
  const origin = 'origin' in state && state.origin.kind === 'authorizationRequest' ? state.origin : undefined;
  if (origin?.isRegistered && origin.clientId === clientId && !wallet)
    throw oauthError('invalid_client', 'the wallet is no longer registered', { check: 'check-registration' });
};
