import { oauthError } from '@attestry/contracts';
import type { Streams } from '@attestry/event-store';
import type { Macs } from '@attestry/keys';
import { grantContext, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import {
  issuanceSession,
  issuanceSessionStream,
  type IssuanceSessionState,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { tokenFamily, tokenFamilyStream, type TokenFamilyState } from '../token-family/token-family.state.js';

export interface NamedFamily {
  family: TokenFamilyState;
  session: Exclude<IssuanceSessionState, { status: 'absent' }>;
  /** The value is that of the family. */
  matched: boolean;
}

/** The family that a refresh token names, and its session. The tenant is the host's (ADR 0059). @throws AppError 400 */
export const loadRefreshToken = async (
  streams: Streams,
  macs: Macs,
  tenantId: string,
  value: string,
): Promise<NamedFamily> => {
  const { sessionId: familyId } = parseBearerValue(value) ?? {};
  if (familyId === undefined) throw unknownToken();
  const { state: family } = await streams.load(tokenFamily, tokenFamilyStream(tenantId, familyId));
  if (family.status === 'absent') throw unknownToken();
  const { state: session } = await streams.load(issuanceSession, issuanceSessionStream(tenantId, family.sessionId));
  if (session.status === 'absent') throw unknownToken();
  const { mac, keyId: pepper } = family.status === 'active' ? family.refreshToken : { mac: '', keyId: '' };
  const matched = macs.verifyMac(value, { mac, pepper }, grantContext('refresh', tenantId, familyId));
  return { family, session, matched };
};

const unknownToken = () => oauthError('invalid_grant', 'the refresh token is not valid', { check: 'refresh-grant' });
