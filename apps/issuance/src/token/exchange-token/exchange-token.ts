import { Inject } from '@nestjs/common';
import {
  exchangeToken,
  HolderTokenRequest,
  AppError,
  type AccessTokenResponse,
  type HolderContext,
  type HttpAnswer,
  type RawRequest,
} from '@attestry/contracts';
import { Streams, type Clock, type FurtherDecision, type Ids } from '@attestry/event-store';
import { Macs, ReplayGuard, Sealing } from '@attestry/keys';
import {
  CLOCK,
  IDS,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { checkHaipTokenRequest } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import type { Grant } from '../../sessions/issuance-session/issuance-session.events.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { issuanceSession, type IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { grantContext, makeBearerValue } from '../../sessions/bearer-value/bearer-value.js';
import { checkLengths, maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { clientOfAttestation } from '../../wallets/client-attestation/client-attestation.js';
import { checkNoDuplicates } from '../../reading/raw-request/check-no-duplicates.js';
import { checkRegistration } from '../../wallets/wallet-clients/check-registration.js';
import { DpopProofs } from '../../wallets/dpop/dpop-proofs.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { checkContentType } from '../../reading/raw-request/check-content-type.js';
import { WalletClients } from '../../wallets/wallet-clients/wallet-clients.js';
import { TokenFamilies } from '../token-family/token-families.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import { checkAttestedKey } from './check-attested-key.js';
import { checkDpopBinding } from './check-dpop-binding.js';
import { checkParametersLocation } from './check-parameters-location.js';
import { exchangeCode, outcomeOf, type ExchangeFacts } from './exchange-token.decisions.js';
import { loadSession } from './load-session.js';
import { matchSecrets } from './match-secrets.js';
import { parseTokenRequest } from './parse-token-request.js';
import { RefreshGrant } from './refresh-grant.js';
import { authorizationDetailsOf } from './token-response.js';

const MAX_LENGTHS = maxLengthsOf(HolderTokenRequest);

/** Token endpoint, OID4VCI §6: the checks in their order. */
@Operation(exchangeToken)
export class ExchangeToken {
  constructor(
    private readonly streams: Streams,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly dpop: DpopProofs,
    private readonly clients: WalletClients,
    private readonly families: TokenFamilies,
    private readonly refreshGrant: RefreshGrant,
    private readonly haip: HaipProfile,
    private readonly names: IssuerNames,
    private readonly guard: ReplayGuard,
    readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  execute(request: RequestOf<typeof exchangeToken>, context: HolderContext): Promise<AccessTokenResponse | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, exchangeToken, context, (record) => this.exchange(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async exchange(raw: RawRequest, context: HolderContext, record: WalletRecord): Promise<AccessTokenResponse> {
    const { id: tenantId } = context.tenant;
    checkContentType(raw);
    checkParametersLocation(raw);
    const form = new URLSearchParams(raw.text);
    const attestation = raw.headers['oauth-client-attestation'];
    const attested = clientOfAttestation(attestation);
    if (attested !== undefined && !form.get('client_id')) form.set('client_id', attested);
    checkLengths(MAX_LENGTHS, form);
    checkNoDuplicates(form);
    const wanted = parseTokenRequest(form, attestation !== undefined);
    if (wanted.grant === 'refreshToken') return this.refreshGrant.refresh(wanted, raw, context.tenant, record);
    const { sessionId, stream, loaded } = await loadSession(this.streams, tenantId, wanted.code);
    record.nameSession(loaded.state);
    // Before the code: a request whose proof fails spends nothing and counts as no attempt.
    const client = await this.clients.authenticate(raw, exchangeToken, wanted.clientId, context.tenant);
    const { wallet, proof, spends } = client;
    checkRegistration(loaded.state, wanted.clientId, wallet);
    await this.haip.enforce(tenantId, () => checkHaipTokenRequest(wanted, wallet, proof));
    checkDpopBinding(loaded.state, wallet, proof);
    checkAttestedKey(loaded.state, client.instanceJkt);
    await this.names.checkTokenTarget(context.tenant, wanted, loaded.state);

    const now = this.clock.now();
    const made = makeBearerValue(sessionId, this.ids.uuid());
    const { mac, pepper } = this.macs.mac(made.value, grantContext('access', tenantId, sessionId));
    const seconds = proof ? this.config.dpopAccessTokenSeconds : this.config.accessTokenSeconds;
    const expiresAt = new Date(now.getTime() + seconds * 1000).toISOString();
    const accessToken: Grant = {
      ...{ tokenId: made.tokenId, kind: 'access', mac, keyId: pepper, expiresAt },
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
      // One call of the guard for both (ADR 0089).
      { unit: { writes: spends.length > 0 ? [this.guard.spending(tenantId, spends, client.used)] : [], further } },
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
