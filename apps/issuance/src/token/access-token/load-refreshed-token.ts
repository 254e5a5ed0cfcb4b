import type { Streams } from '@attestry/event-store';
import type { Macs } from '@attestry/keys';
import {
  issuanceSession,
  issuanceSessionStream,
  type IssuanceSessionState,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { restrictRights } from '../../sessions/issuance-session/restrict-rights.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { readRefreshedToken } from '../refreshed-token/refreshed-token.js';
import { tokenFamily, tokenFamilyStream } from '../token-family/token-family.state.js';
import { wallets, walletsStream } from '../../wallets/registered-wallets/wallets.state.js';
import type { AccessTokenCredentials } from './check-access-token-location.js';
import { invalidToken, type PresentedToken } from './presented-token.js';

/**
 * An access token from a refresh (ADR 0090). Family, session and wallet are read for each request, so that the token ends with them; the
 * append confirms the session, which ends with its family.
 */
export const loadRefreshedToken = async (
  { scheme, token: value }: AccessTokenCredentials,
  tenantId: string,
  now: Date,
  streams: Streams,
  macs: Macs,
  record: WalletRecord,
): Promise<PresentedToken> => {
  const token = readRefreshedToken(macs, tenantId, value);
  const invalid = () => invalidToken(scheme === 'dpop' || token?.jkt !== undefined);
  if (!token) throw invalid();
  const { state: family } = await streams.load(tokenFamily, tokenFamilyStream(tenantId, token.familyId));
  if (family.status === 'absent') throw invalid();
  const stream = issuanceSessionStream(tenantId, family.sessionId);
  const loaded = await streams.load(issuanceSession, stream);
  if (loaded.state.status === 'absent') throw invalid();
  record.nameSession(loaded.state);
  if (family.status !== 'active' || family.epoch !== token.epoch || token.expiresAt <= now) throw invalid();
  if (family.walletId !== undefined) {
    const { state: registered } = await streams.load(wallets, walletsStream(tenantId));
    if (!registered.some(({ id, disabled }) => id === family.walletId && !disabled)) throw invalid();
  }
  const { tokenId, jkt, covered } = token;
  const accessToken = {
    ...{ tokenId, kind: 'access' as const, mac: '', keyId: '', expiresAt: token.expiresAt.toISOString() },
    ...(jkt !== undefined && { jkt }),
  };
  const requireSession = (state: IssuanceSessionState): RedeemedSession => {
    if (state.status !== 'redeemed' || state.tokenFamily?.id !== token.familyId) throw invalid();
    return { ...restrictRights(state, covered), accessToken };
  };
  return {
    ...{ tokenId, stream, loaded, session: requireSession(loaded.state), requireSession },
    // The state is not cached.
    confirm: () => Promise.resolve(),
  };
};
