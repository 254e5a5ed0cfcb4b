import { oauthError } from '@attestry/contracts';
import type { DeferredIssuance, RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { UserState } from '../../users/user/user.state.js';
import type { OpenDeferral } from '../../sessions/issuance-session/issuance-session.decisions.js';

export type UnfinishedDeferral = Exclude<DeferredIssuance, { status: 'completed' }>;

/**
 * Rights that may have ended while the wallet waited (OID4VCI 1.0 §9.3).
 * @param isClientAllowed whether the client of a session that began with an authorization request still is
 * @throws AppError credential_request_denied
 */
export const checkRights = (
  deferral: UnfinishedDeferral,
  session: Pick<RedeemedSession, 'newUser'>,
  person: Pick<UserState, 'status'>,
  isClientAllowed: boolean,
): OpenDeferral => {
  if (deferral.status === 'denied') throw denied('the issuer denied the issuance');
  if (person.status !== 'active' && !(person.status === 'absent' && session.newUser))
    throw denied('the user was deleted');
  if (!isClientAllowed) throw denied('the wallet is no longer allowed by this issuer');
  return deferral;
};

const denied = (description: string) => oauthError('credential_request_denied', description, { check: 'check-rights' });
