import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import {
  issuanceSession,
  issuanceSessionStream,
  type IssuanceSessionState,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { WalletCall, WalletEngines } from '../../wallets/wallet-endpoints/wallet-call.js';
import type { AccessTokenCredentials } from './check-access-token-location.js';
import { loadRefreshedToken } from './load-refreshed-token.js';
import { invalidToken, type PresentedToken } from './presented-token.js';

type Used = Pick<WalletEngines, 'streams' | 'macs'>;
type Presenting = WalletCall & AccessTokenCredentials;

/** Every token is still valid then. */
const BEFORE_EVERY_END = new Date(0);

/** The call is recorded once its token names a session of this tenant (ADR 0072). */
const loaderOf =
  (ofAnyAge: boolean) =>
  async (call: Presenting, { streams, macs }: Used): Promise<PresentedToken> => {
    const now = ofAnyAge ? BEFORE_EVERY_END : call.now;
    const { scheme, token, record } = call;
    const tenantId = call.tenant.id;
    const named = parseBearerValue(token);
    if (!named) return loadRefreshedToken(call, tenantId, now, streams, macs, record);
    const stream = issuanceSessionStream(tenantId, named.sessionId);
    let loaded = await streams.load(issuanceSession, stream, { cached: !ofAnyAge });
    if (loaded.state.status === 'absent') throw invalidToken(scheme === 'dpop');
    record.nameSession(loaded.state);
    let verified: Grant | undefined;
    const requireSession = (state: IssuanceSessionState): RedeemedSession => {
      const invalid = () => invalidToken(scheme === 'dpop' || isBound(state, named.tokenId));
      if (state.status !== 'redeemed' || state.accessToken.tokenId !== named.tokenId) throw invalid();
      const grant = state.accessToken;
      if (isExpired(grant, now)) throw invalid();
      // The MAC is computed once per request: a later state of the session normally holds the grant that was verified.
      if (verified?.mac !== grant.mac || verified.keyId !== grant.keyId) {
        const expected = { mac: grant.mac, pepper: grant.keyId };
        if (!macs.verifyMac(named.value, expected, grantContext('access', tenantId, state.id))) throw invalid();
        verified = grant;
      }
      return state;
    };
    let session: RedeemedSession;
    try {
      session = requireSession(loaded.state);
    } catch (refusal) {
      // A cached state alone refuses nothing, and issues nothing: the append confirms it.
      if (!loaded.cached) throw refusal;
      loaded = await streams.load(issuanceSession, stream);
      session = requireSession(loaded.state);
    }
    const confirm = async () => {
      if (loaded.cached) requireSession((await streams.load(issuanceSession, stream)).state);
    };
    return { tokenId: named.tokenId, stream, loaded, session, requireSession, confirm };
  };

/** @throws AppError 401 for a token that is unknown, has expired, or is of a deleted offer (RFC 6750 §3.1) */
export const loadAccessToken = loaderOf(false);

/**
 * Loads an expired token too, at the endpoints for what follows a credential request (OID4VCI 1.0 §9, §11): each decides what its end
 * means. The session is as stored now.
 */
export const loadAccessTokenOfAnyAge = loaderOf(true);

const isBound = (state: IssuanceSessionState, tokenId: string): boolean =>
  state.status === 'redeemed' && state.accessToken.tokenId === tokenId && state.accessToken.jkt !== undefined;
