import { oauthError } from '@attestry/contracts';
import type { Macs } from '@attestry/keys';
import { isExpired, type OfferedSession } from '../issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState } from '../issuance-session/issuance-session.state.js';
import { grantContext } from '../protocol/bearer-value.js';

/** OID4VCI §6.3 and §4.1.1: wrong, expired, redeemed, deleted or locked, it is no grant. */
export const checkCode = (
  state: IssuanceSessionState,
  code: string,
  tenantId: string,
  now: Date,
  macs: Macs,
): OfferedSession => {
  if (state.status !== 'offered') throw invalidGrant();
  const { mac, keyId: pepper } = state.code;
  // The whole value is under the MAC, its session and token id too; compared in constant time.
  if (!macs.verifyMac(code, { mac, pepper }, grantContext('preAuthorizedCode', tenantId, state.id)))
    throw invalidGrant();
  if (isExpired(state.code, now)) throw invalidGrant();
  return state;
};

const invalidGrant = () => oauthError('invalid_grant', 'the code is not valid', { check: 'check-code' });
