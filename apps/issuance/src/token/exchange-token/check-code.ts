import { oauthError } from '@attestry/contracts';
import { isExpired, type OfferedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { MatchedSecrets } from './match-secrets.js';

/** OID4VCI §6.3 and §4.1.1: a wrong, expired, redeemed, deleted or locked code is an invalid grant. */
export const checkCode = (state: IssuanceSessionState, matched: MatchedSecrets, now: Date): OfferedSession => {
  if (state.status !== 'offered' || !matched.code || isExpired(state.code, now)) throw invalidGrant();
  return state;
};

const invalidGrant = () => oauthError('invalid_grant', 'the code is not valid', { check: 'check-code' });
