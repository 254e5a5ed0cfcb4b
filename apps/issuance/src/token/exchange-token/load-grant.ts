import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { checkRegistration } from '../../wallets/wallet-clients/check-registration.js';
import type { WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import type { WalletCall, WalletEngines } from '../../wallets/wallet-endpoints/wallet-call.js';
import { loadRefreshToken, type NamedFamily } from './load-refresh-token.js';
import { loadSession, type NamedSession } from './load-session.js';
import type { RefreshTokenRequest, TokenRequest } from './parse-token-request.js';

/** A code with its session. */
export interface PresentedCode extends NamedSession {
  kind: 'code';
  wanted: TokenRequest;
  session: IssuanceSessionState;
}
/** A refresh token with its family and session. */
export interface PresentedRefreshToken extends NamedFamily {
  kind: 'refreshToken';
  wanted: RefreshTokenRequest;
}
type Grant = PresentedCode | PresentedRefreshToken;

/** Session that the code or refresh token names: from here on the call is recorded. @throws AppError 400 */
export const loadGrant = async (
  { wanted, tenant, record }: WalletCall & { wanted: TokenRequest | RefreshTokenRequest },
  { streams, macs }: Pick<WalletEngines, 'streams' | 'macs'>,
): Promise<{ grant: Grant }> => {
  if (wanted.grant === 'refreshToken') {
    const named = await loadRefreshToken(streams, macs, tenant.id, wanted.refreshToken);
    record.nameSession(named.session);
    return { grant: { kind: 'refreshToken', wanted, ...named } };
  }
  const named = await loadSession(streams, tenant.id, wanted.code);
  record.nameSession(named.loaded.state);
  return { grant: { kind: 'code', wanted, ...named, session: named.loaded.state } };
};

/** The client is registered if and only if it was when the flow began. @throws AppError 400, 401 */
export const checkClientOfGrant = ({ grant, client }: { grant: Grant; client: WalletClient }): void =>
  checkRegistration(grant.session, grant.wanted.clientId, client.wallet);
