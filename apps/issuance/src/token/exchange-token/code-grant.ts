import { Inject, Injectable } from '@nestjs/common';
import { AppError, type AccessTokenResponse } from '@attestry/contracts';
import { Streams, type FurtherDecision, type Ids } from '@attestry/event-store';
import { Macs, Sealing } from '@attestry/keys';
import { IDS, PlatformConfig } from '@attestry/service-kit';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import { issuanceSession, type IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import { WalletClients, type WalletClient } from '../../wallets/wallet-clients/wallet-clients.js';
import type { WalletCall } from '../../wallets/wallet-endpoints/wallet-call.js';
import type { WalletRecord } from '../../wallets/wallet-record/wallet-records.js';
import { TokenFamilies } from '../token-family/token-families.js';
import { checkAttestedKey } from './check-attested-key.js';
import { checkDpopBinding } from './check-dpop-binding.js';
import { exchangeCode, outcomeOf, type ExchangeFacts } from './exchange-token.decisions.js';
import type { PresentedCode } from './load-grant.js';
import { matchSecrets } from './match-secrets.js';
import { authorizationDetailsOf } from './token-response.js';

/** The grants `authorization_code` and `pre-authorized_code` (OID4VCI §6.1). */
@Injectable()
export class CodeGrant {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly clients: WalletClients,
    private readonly families: TokenFamilies,
    private readonly names: IssuerNames,
    private readonly config: PlatformConfig,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async exchange(
    { tenant, record, now, client }: WalletCall & { client: WalletClient },
    { wanted, sessionId, stream, loaded }: PresentedCode,
  ): Promise<AccessTokenResponse> {
    const { id: tenantId } = tenant;
    const { wallet, proof } = client;
    checkDpopBinding(loaded.state, wallet, proof);
    checkAttestedKey(loaded.state, client.instanceJkt);
    await this.names.checkTokenTarget(tenant, wanted, loaded.state);

    const made = makeBearerValue(sessionId, this.ids.uuid());
    const { mac, pepper } = this.macs.mac(made.value, grantContext('access', tenantId, sessionId));
    const seconds = proof ? this.config.dpopAccessTokenSeconds : this.config.accessTokenSeconds;
    const expiresAt = new Date(now.getTime() + seconds * 1000).toISOString();
    const accessToken: Grant = {
      tokenId: made.tokenId,
      kind: 'access',
      mac,
      keyId: pepper,
      expiresAt,
      ...(proof && { jkt: proof.jkt }),
    };
    const family = wanted.grant === 'authorizationCode' ? await this.families.prepare(tenantId, client) : undefined;
    const tokenFamily = family && { id: family.id, expiresAt: family.expiresAt };
    const further: FurtherDecision[] = [];
    const factsOf = (state: IssuanceSessionState): ExchangeFacts => ({
      now,
      matched: matchSecrets(state, wanted, tenantId, this.macs),
      accessToken,
      identifiers: 'entries' in state ? state.entries.map(() => this.ids.uuid()) : [],
      ...(tokenFamily && { tokenFamily }),
    });
    const { events, state } = await this.streams.decideOn(
      issuanceSession,
      stream,
      loaded,
      // The second of two concurrent redemptions of one code conflicts, and then finds a redeemed session.
      (current) => {
        const decided = exchangeCode(current, wanted, factsOf(current));
        const outcome = outcomeOf(decided);
        record.setRefusal(outcome instanceof AppError ? outcome : undefined);
        const ofFamily = this.families.ofExchange(tenantId, current, decided, client, family, record.events);
        further.splice(0, further.length, ...ofFamily);
        return decided;
      },
      record.events,
      { unit: { writes: this.clients.spendingOf(tenantId, client), further } },
    );

    const outcome = outcomeOf(events);
    if (outcome instanceof AppError) {
      // After a crash here, the sweep of ended sessions destroys it.
      if (state.status === 'locked' || state.status === 'revoked')
        await this.sealing.destroyDataKeys(tenantId, [state.id]);
      throw outcome;
    }
    if (family && wallet) await this.confirmWallet(tenantId, sessionId, wallet, record);
    const { scope, authorizationDetails } = outcome;
    return {
      access_token: made.value,
      token_type: proof ? 'DPoP' : 'Bearer',
      expires_in: seconds,
      ...(family && { refresh_token: family.value }),
      scope,
      ...authorizationDetailsOf(authorizationDetails),
    };
  }

  /** A family that began after its wallet had ended would not end with it. @throws AppError */
  private async confirmWallet(
    tenantId: string,
    sessionId: string,
    wallet: RegisteredWallet,
    record: WalletRecord,
  ): Promise<void> {
    try {
      await this.clients.confirm(tenantId, wallet);
    } catch (error) {
      if (error instanceof AppError) await this.families.endSession(tenantId, sessionId, 'walletEnded', record.events);
      throw error;
    }
  }
}
