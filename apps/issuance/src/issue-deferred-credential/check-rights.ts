import { oauthError } from '@attestry/contracts';
import type { DeferredIssuance, RedeemedSession } from '../issuance-session/issuance-session.state.js';
import type { UserState } from '../user/user.state.js';
import type { RegisteredWallet } from '../wallets/wallets.events.js';
import type { OpenDeferral } from '../issuance-session/issuance-session.decisions.js';

/**
 * What may have ended while the wallet waited (OID4VCI 1.0 §9.3).
 * @param wallet the registered wallet of the session's client id, if there is one
 * @throws AppError credential_request_denied
 */
export const checkRights = (
  deferral: Exclude<DeferredIssuance, { status: 'completed' }>,
  session: Pick<RedeemedSession, 'origin' | 'newUser'>,
  person: Pick<UserState, 'status'>,
  wallet: Pick<RegisteredWallet, 'disabled'> | undefined,
): OpenDeferral => {
  if (deferral.status === 'denied') throw denied('the issuer denied the issuance');
  if (person.status !== 'active' && !(person.status === 'absent' && session.newUser))
    throw denied('the user was deleted');
  const { origin } = session;
  if (origin.kind === 'authorizationRequest' && origin.isRegistered && (!wallet || wallet.disabled))
    throw denied('the wallet is no longer registered');
  return deferral;
};

const denied = (description: string) => oauthError('credential_request_denied', description, { check: 'check-rights' });
