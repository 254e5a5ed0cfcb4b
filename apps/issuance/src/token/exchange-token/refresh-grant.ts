import { Inject, Injectable } from '@nestjs/common';
import type { AccessTokenResponse } from '@attestry/contracts';
import { Streams, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { IDS, PlatformConfig } from '@attestry/service-kit';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { scopeOf } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { restrictRights } from '../../sessions/issuance-session/restrict-rights.js';
import { user, userStream } from '../../users/user/user.state.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { WalletClients, type WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import type { WalletCall } from '../../wallets/wallet-endpoints/wallet-call.js';
import { makeRefreshedToken } from '../refreshed-token/refreshed-token.js';
import { checkRefreshRights } from './check-refresh-rights.js';
import { checkRefreshToken } from './check-refresh-token.js';
import type { PresentedRefreshToken } from './load-grant.js';
import { authorizationDetailsOf } from './token-response.js';

/** The grant `refresh_token` (RFC 6749 §6). It appends nothing, and the refresh token stays (ADR 0090). */
@Injectable()
export class RefreshGrant {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly clients: WalletClients,
    private readonly wallets: TenantWallets,
    private readonly names: IssuerNames,
    private readonly config: PlatformConfig,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async refresh(
    { tenant, now, client }: WalletCall & { client: WalletClient },
    { wanted, matched, ...named }: PresentedRefreshToken,
  ): Promise<AccessTokenResponse> {
    const { id: tenantId } = tenant;
    const isPersonActive = 'userId' in named.session && (await this.isActive(tenantId, named.session.userId));
    const facts = { now, matched, isPersonActive, client };
    const { family, session } = checkRefreshToken(named.family, named.session, wanted, facts);
    // The issuer may have ended the use by wallets that are not registered.
    if (!client.wallet && session.origin.kind === 'authorizationRequest')
      await this.wallets.classifyClient(tenantId, session.origin, true);
    await this.names.checkTokenTarget(tenant, wanted, session);
    const covered = checkRefreshRights(session, wanted);
    await this.clients.spend(tenantId, client);

    const jkt = client.proof?.jkt;
    const seconds = jkt === undefined ? this.config.accessTokenSeconds : this.config.dpopAccessTokenSeconds;
    const end = Math.min(now.getTime() + seconds * 1000, Date.parse(family.refreshToken.expiresAt));
    const token = makeRefreshedToken(this.macs, tenantId, {
      familyId: family.familyId,
      tokenId: this.ids.uuid(),
      epoch: family.epoch,
      expiresAt: new Date(end),
      ...(jkt !== undefined && { jkt }),
      ...(covered && { covered }),
    });
    const { entries, authorizationDetails } = restrictRights(session, covered);
    return {
      access_token: token,
      token_type: jkt === undefined ? 'Bearer' : 'DPoP',
      expires_in: Math.floor((end - now.getTime()) / 1000),
      scope: scopeOf(entries, authorizationDetails),
      ...authorizationDetailsOf(authorizationDetails),
    };
  }

  private async isActive(tenantId: string, userId: string): Promise<boolean> {
    return (await this.streams.load(user, userStream(tenantId, userId))).state.status === 'active';
  }
}
