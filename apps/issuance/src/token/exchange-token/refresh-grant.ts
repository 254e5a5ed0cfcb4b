import { Inject, Injectable } from '@nestjs/common';
import {
  exchangeToken,
  oauthError,
  type AccessTokenResponse,
  type RawRequest,
  type TenantContext,
} from '@attestry/contracts';
import { Streams, type Clock, type Ids } from '@attestry/event-store';
import { Macs } from '@attestry/keys';
import { CLOCK, IDS, PlatformConfig } from '@attestry/service-kit';
import { scopeOf } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { checkHaipTokenRequest } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';
import { restrictRights } from '../../sessions/issuance-session/restrict-rights.js';
import { grantContext, parseBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { checkRegistration } from '../../wallets/wallet-clients/check-registration.js';
import type { WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { makeRefreshedToken } from '../refreshed-token/refreshed-token.js';
import { WalletClients } from '../../wallets/wallet-clients/wallet-clients.js';
import { tokenFamily, tokenFamilyStream } from '../token-family/token-family.state.js';
import { user, userStream } from '../../users/user/user.state.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { checkRefreshRights } from './check-refresh-rights.js';
import { checkRefreshToken } from './check-refresh-token.js';
import type { RefreshTokenRequest } from './parse-token-request.js';
import { authorizationDetailsOf } from './token-response.js';

/** The grant `refresh_token` (RFC 6749 §6). It appends nothing, and the refresh token stays (ADR 0090). */
@Injectable()
export class RefreshGrant {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly clients: WalletClients,
    private readonly wallets: TenantWallets,
    private readonly haip: HaipProfile,
    private readonly names: IssuerNames,
    private readonly config: PlatformConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async refresh(
    wanted: RefreshTokenRequest,
    raw: RawRequest,
    tenant: TenantContext,
    record: WalletRecord,
  ): Promise<AccessTokenResponse> {
    const { id: tenantId } = tenant;
    const { family: found, session: named, matched } = await this.find(tenantId, wanted.refreshToken);
    record.nameSession(named);
    const client = await this.clients.authenticate(raw, exchangeToken, wanted.clientId, tenant);
    checkRegistration(named, wanted.clientId, client.wallet);
    await this.haip.enforce(tenantId, () => checkHaipTokenRequest(wanted, client.wallet, client.proof));
    const now = this.clock.now();
    const isPersonActive = 'userId' in named && (await this.isActive(tenantId, named.userId));
    const { family, session } = checkRefreshToken(found, named, wanted, { now, matched, isPersonActive, client });
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
      ...{ familyId: family.familyId, tokenId: this.ids.uuid(), epoch: family.epoch, expiresAt: new Date(end) },
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

  /** The family that the value names, and its session. The tenant is the host's (ADR 0059). @throws AppError 400 */
  private async find(tenantId: string, value: string) {
    const { sessionId: familyId } = parseBearerValue(value) ?? {};
    if (familyId === undefined) throw unknownToken();
    const { state: family } = await this.streams.load(tokenFamily, tokenFamilyStream(tenantId, familyId));
    if (family.status === 'absent') throw unknownToken();
    const stream = issuanceSessionStream(tenantId, family.sessionId);
    const { state: session } = await this.streams.load(issuanceSession, stream);
    if (session.status === 'absent') throw unknownToken();
    const { mac, keyId: pepper } = family.status === 'active' ? family.refreshToken : { mac: '', keyId: '' };
    const matched = this.macs.verifyMac(value, { mac, pepper }, grantContext('refresh', tenantId, familyId));
    return { family, session, matched };
  }

  private async isActive(tenantId: string, userId: string): Promise<boolean> {
    return (await this.streams.load(user, userStream(tenantId, userId))).state.status === 'active';
  }
}

const unknownToken = () => oauthError('invalid_grant', 'the refresh token is not valid', { check: 'refresh-grant' });
