import { oauthError, revokeWalletToken, type RawRequest, type RevokedWalletToken } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { authenticateClient } from '../../wallets/wallet-clients/authenticate-client.js';
import { checkStillRegistered } from '../../wallets/wallet-clients/check-registration.js';
import { WalletClients } from '../../wallets/wallet-clients/wallet-clients.js';
import type { After, WalletCall, WalletEngines } from '../../wallets/wallet-endpoints/wallet-call.js';
import { WalletEndpoints, type ServedBy } from '../../wallets/wallet-endpoints/wallet-endpoints.js';
import { TokenFamilies } from '../token-family/token-families.js';
import { checkTokenOwner } from './check-token-owner.js';
import { findToken, type FoundToken } from './find-token.js';
import { parseRevocationRequest, type RevocationRequest } from './parse-revocation-request.js';

const readRequest = (call: RawRequest): { wanted: RevocationRequest } => ({ wanted: parseRevocationRequest(call) });

/** From here on the call is recorded, where it names a session. */
const loadToken = async (
  { wanted, tenant, now, record }: WalletCall & { wanted: RevocationRequest },
  { streams, macs }: Pick<WalletEngines, 'streams' | 'macs'>,
): Promise<{ found?: FoundToken }> => {
  const found = await findToken(wanted.token, tenant.id, now, streams, macs);
  if (!found) return {};
  record.nameSession(found.session);
  return { found };
};

const STEPS = [readRequest, loadToken, authenticateClient] as const;

/** Revocation endpoint, RFC 7009: any token of a wallet ends all tokens of its session (ADR 0090). */
@Operation(revokeWalletToken)
export class RevokeWalletToken {
  readonly execute: ServedBy<typeof revokeWalletToken>;

  constructor(
    endpoints: WalletEndpoints,
    private readonly clients: WalletClients,
    private readonly families: TokenFamilies,
  ) {
    this.execute = endpoints.serve(revokeWalletToken, STEPS, this);
  }

  async answer({ tenant, wanted, found, client, record }: After<typeof STEPS>): Promise<RevokedWalletToken> {
    if (found) {
      checkStillRegistered(found.session, wanted.clientId, client.wallet);
      checkTokenOwner(found.session.origin, wanted.clientId);
      if (found.kind === 'code')
        throw oauthError('unsupported_token_type', 'only access tokens and refresh tokens can be revoked', {
          check: 'revoke-wallet-token',
        });
    }
    await this.clients.spend(tenant.id, client);
    if (found) await this.families.endSession(tenant.id, found.session.id, 'revoked', record.events);
    return {};
  }
}
