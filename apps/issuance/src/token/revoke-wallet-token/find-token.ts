import type { Streams } from '@attestry/event-store';
import type { Macs } from '@attestry/keys';
import {
  hasOpenDeferral,
  hasRights,
  isExpired,
  type AuthorizedSession,
  type OfferedSession,
} from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import {
  issuanceSession,
  issuanceSessionStream,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { readRefreshedToken } from '../refreshed-token/refreshed-token.js';
import { tokenFamily, tokenFamilyStream, type ActiveFamily } from '../token-family/token-family.state.js';

interface CurrentToken {
  kind: 'token';
  session: RedeemedSession;
}

export type FoundToken = CurrentToken | { kind: 'code'; session: OfferedSession | AuthorizedSession | RedeemedSession };

/**
 * Token or code that the value is at this tenant, the host's; undefined for one that is unknown or has ended. An expired access token has
 * not ended while it collects what was deferred.
 */
export const findToken = async (
  value: string,
  tenantId: string,
  now: Date,
  streams: Streams,
  macs: Pick<Macs, 'verifyMac'>,
): Promise<FoundToken | undefined> => {
  const isValue = (id: string, { kind, mac, keyId: pepper }: Grant): boolean =>
    macs.verifyMac(value, { mac, pepper }, grantContext(kind, tenantId, id));

  const ofFamily = async (
    familyId: string,
    accepts: (family: ActiveFamily) => boolean,
  ): Promise<CurrentToken | undefined> => {
    const { state: family } = await streams.load(tokenFamily, tokenFamilyStream(tenantId, familyId));
    if (family.status !== 'active' || !accepts(family)) return undefined;
    const stream = issuanceSessionStream(tenantId, family.sessionId);
    const { state: session } = await streams.load(issuanceSession, stream);
    return session.status === 'redeemed' && session.tokenFamily?.id === familyId
      ? { kind: 'token', session }
      : undefined;
  };

  const named = parseBearerValue(value);
  if (!named) {
    const token = readRefreshedToken(macs, tenantId, value);
    if (!token) return undefined;
    const found = await ofFamily(token.familyId, ({ epoch }) => epoch === token.epoch);
    return found && (token.expiresAt > now || hasOpenDeferral(found.session, now)) ? found : undefined;
  }
  const id = named.sessionId;
  const { state: session } = await streams.load(issuanceSession, issuanceSessionStream(tenantId, id));
  switch (session.status) {
    case 'absent':
      return ofFamily(id, ({ refreshToken }) => !isExpired(refreshToken, now) && isValue(id, refreshToken));
    case 'redeemed': {
      const { accessToken, spentCode } = session;
      if (isValue(id, accessToken)) return hasRights(session, now) ? { kind: 'token', session } : undefined;
      return spentCode && isValue(id, spentCode) ? { kind: 'code', session } : undefined;
    }
    case 'offered':
    case 'authorized':
      return isValue(id, session.code) ? { kind: 'code', session } : undefined;
    case 'locked':
    case 'revoked':
    case 'deleted':
      return undefined;
  }
};
