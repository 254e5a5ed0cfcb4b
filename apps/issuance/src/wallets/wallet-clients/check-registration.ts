import { oauthError } from '@attestry/contracts';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../registered-wallets/wallets.events.js';

/** A wallet that was deleted since its authorization request is no client any more (RFC 6749 §5.2). @throws AppError 401 */
export const checkStillRegistered = (
  state: IssuanceSessionState,
  clientId: string | undefined,
  wallet: RegisteredWallet | undefined,
): void => {
  const origin = originOf(state, clientId);
  if (origin?.isRegistered && !wallet) throw notRegistered();
};

/**
 * A client is registered at the end of the flow if and only if it was at its beginning: whoever used a `client_id` before it was registered
 * is another client. @throws AppError 400; 401 as {@link checkStillRegistered}
 */
export const checkRegistration = (
  state: IssuanceSessionState,
  clientId: string | undefined,
  wallet: RegisteredWallet | undefined,
): void => {
  checkStillRegistered(state, clientId, wallet);
  const origin = originOf(state, clientId);
  if (origin && !origin.isRegistered && wallet)
    throw oauthError('invalid_grant', 'the wallet was registered later; start again in the wallet', {
      check: 'check-registration',
    });
};

export const notRegistered = () =>
  oauthError('invalid_client', 'the wallet is no longer registered', { check: 'check-registration' });

/** The authorization request of this client. */
const originOf = (state: IssuanceSessionState, clientId: string | undefined) =>
  'origin' in state && state.origin.kind === 'authorizationRequest' && state.origin.clientId === clientId
    ? state.origin
    : undefined;
