import { createHash, timingSafeEqual } from 'node:crypto';
import { oauthError } from '@attestry/contracts';
import type { Macs } from '@attestry/keys';
import { isExpired, type AuthorizedSession } from '../issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState, RedeemedSession } from '../issuance-session/issuance-session.state.js';
import { grantContext } from '../protocol/bearer-value.js';
import type { AuthorizationCodeRequest } from './parse-token-request.js';

/** RFC 7636 §4.1 */
const VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/**
 * RFC 6749 §4.1.3 and RFC 7636 §4.6: the code, the client and the address it was asked for, and the verifier. A code that was
 * spent answers the session it was spent on: its tokens end.
 */
export const checkAuthorizationCode = (
  state: IssuanceSessionState,
  request: AuthorizationCodeRequest,
  tenantId: string,
  now: Date,
  macs: Macs,
): { fresh: AuthorizedSession } | { spent: RedeemedSession } => {
  const code = state.status === 'authorized' ? state.code : state.status === 'redeemed' ? state.spentCode : undefined;
  if (!code || (state.status !== 'authorized' && state.status !== 'redeemed')) throw invalidGrant();
  // The whole value is under the MAC, its session and token id too; compared in constant time.
  const expected = { mac: code.mac, pepper: code.keyId };
  if (!macs.verifyMac(request.code, expected, grantContext('authorizationCode', tenantId, state.id)))
    throw invalidGrant();
  if (state.status === 'redeemed') return { spent: state };
  const { clientId, redirectUri, codeChallenge } = state.origin;
  if (isExpired(code, now)) throw invalidGrant();
  if (request.clientId !== clientId) throw invalidGrant('the code was issued to another client');
  if (request.redirectUri !== redirectUri)
    throw invalidGrant('redirect_uri must be the one of the authorization request');
  if (!VERIFIER.test(request.codeVerifier) || !provesChallenge(request.codeVerifier, codeChallenge))
    throw invalidGrant('code_verifier does not match code_challenge');
  return { fresh: state };
};

const provesChallenge = (verifier: string, challenge: string): boolean => {
  // As texts: base64url has more than one spelling of a digest.
  const made = Buffer.from(createHash('sha256').update(verifier).digest('base64url'));
  const expected = Buffer.from(challenge);
  return made.length === expected.length && timingSafeEqual(made, expected);
};

const invalidGrant = (description = 'the code is not valid') =>
  oauthError('invalid_grant', description, { check: 'check-authorization-code' });
