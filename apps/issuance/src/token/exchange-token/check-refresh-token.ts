import { oauthError } from '@attestry/contracts';
import { isExpired } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { IssuanceSessionState, RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import { dpopError } from '../../wallets/dpop/dpop-proofs.js';
import type { WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import type { ActiveFamily, TokenFamilyState } from '../token-family/token-family.state.js';
import type { RefreshTokenRequest } from './parse-token-request.js';

export interface RefreshFacts {
  now: Date;
  /** The value is that of the family. */
  matched: boolean;
  /** The user of the session. */
  isPersonActive: boolean;
  client: WalletClient;
}

/**
 * RFC 6749 §6: the refresh token, its client and its key, and the session that names the family. A client that attested its key is bound to
 * that key alone, any other to its DPoP key (RFC 9449 §5, ADR 0090). One message for all reasons that only its owner should know.
 * @throws AppError 400
 */
export const checkRefreshToken = (
  family: TokenFamilyState,
  session: IssuanceSessionState,
  { clientId }: Pick<RefreshTokenRequest, 'clientId'>,
  { now, matched, isPersonActive, client }: RefreshFacts,
): { family: ActiveFamily; session: RedeemedSession } => {
  if (!matched || family.status !== 'active' || isExpired(family.refreshToken, now)) throw invalidGrant();
  if (session.status !== 'redeemed' || session.tokenFamily?.id !== family.familyId) throw invalidGrant();
  if (!isPersonActive) throw invalidGrant();
  const { wallet, proof, instanceJkt } = client;
  // A wallet that was registered later, or deleted and registered again, is another client.
  if (family.clientId !== clientId || family.walletId !== wallet?.id)
    throw invalidGrant('the refresh token was issued to another client');
  if (family.instanceJkt !== undefined && family.instanceJkt !== instanceJkt)
    throw invalidGrant('the refresh token was issued to another instance of the wallet');
  const boundJkt = family.instanceJkt === undefined ? family.jkt : undefined;
  if (!proof && (family.jkt !== undefined || wallet?.dpopRequired))
    throw dpopError(`a DPoP proof ${boundJkt === undefined ? '' : 'of the key of the refresh token '}is required`);
  if (boundJkt !== undefined && boundJkt !== proof?.jkt)
    throw invalidGrant('the DPoP proof must be made with the key of the refresh token');
  return { family, session };
};

const invalidGrant = (description = 'the refresh token is not valid') =>
  oauthError('invalid_grant', description, { check: 'check-refresh-token' });
