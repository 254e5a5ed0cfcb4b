import { oauthError } from '@attestry/contracts';
import { isExpired, type AuthorizedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState, RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { MatchedSecrets } from './match-secrets.js';
import type { AuthorizationCodeRequest } from './parse-token-request.js';

/**
 * RFC 6749 §4.1.3 and RFC 7636 §4.6: the code, the client and redirect address it was requested for, and the verifier. A spent code with its
 * verifier returns the session it was spent on, whose tokens are revoked. The code alone, which stays in the history of browsers, gave no
 * tokens and must not end them.
 */
export const checkAuthorizationCode = (
  state: IssuanceSessionState,
  request: AuthorizationCodeRequest,
  matched: MatchedSecrets,
  now: Date,
): { fresh: AuthorizedSession } | { spent: RedeemedSession } => {
  if ((state.status !== 'authorized' && state.status !== 'redeemed') || !matched.code) throw invalidGrant();
  if (state.status === 'redeemed') {
    if (!matched.verifier) throw invalidGrant();
    return { spent: state };
  }
  const { clientId, redirectUri } = state.origin;
  if (isExpired(state.code, now)) throw invalidGrant();
  if (request.clientId !== clientId) throw invalidGrant('the code was issued to another client');
  if (request.redirectUri !== redirectUri)
    throw invalidGrant('redirect_uri must be the one of the authorization request');
  if (!matched.verifier) throw invalidGrant('code_verifier does not match code_challenge');
  return { fresh: state };
};

const invalidGrant = (description = 'the code is not valid') =>
  oauthError('invalid_grant', description, { check: 'check-authorization-code' });
