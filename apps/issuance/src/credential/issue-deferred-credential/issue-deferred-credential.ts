import { Inject } from '@nestjs/common';
import {
  issueDeferredCredential,
  oauthError,
  type CredentialResponse,
  type HolderContext,
  type HttpAnswer,
  type RawRequest,
  type TenantContext,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, LOGGER, Operation, OperationRecorder, type Logger, type RequestOf } from '@attestry/service-kit';
import { AccessTokens, type AuthorizedSession } from '../../token/access-token/access-tokens.js';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import { checkIssuerDomain } from '../../issuer/issuer-domain/check-issuer-domain.js';
import { ClaimsNotReady } from '../../claims/credential-claims/claims-not-ready.js';
import { CredentialIssuer, type IssuedAnswer } from '../credential-issuer/credential-issuer.js';
import { deferredAnswer, deferredResponse, DeferredIssuances } from '../deferred-issuance/deferred-issuances.js';
import { checkHaipSession } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { Formats } from '../../formats/formats.js';
import { completeDeferral, invalidTransactionId } from '../../sessions/issuance-session/deferred-issuance.decisions.js';
import type { OpenDeferral } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { SessionOrigin } from '../../sessions/issuance-session/issuance-session.events.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { encryptAnswer, MessageEncryption } from '../message-encryption/message-encryption.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import { DpopProofs } from '../../wallets/dpop/dpop-proofs.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { user, userStream } from '../../users/user/user.state.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import type { RegisteredWallet } from '../../wallets/registered-wallets/wallets.events.js';
import { WithdrawnDomains } from '../../issuer/issuer-domain/withdrawn-domains.directory.js';
import { checkRights } from './check-rights.js';
import { parseDeferredRequest } from './parse-deferred-request.js';

/** Deferred credential endpoint, OID4VCI 1.0 §9: claims are gathered, and credentials made, when the wallet asks (ADR 0092). */
@Operation(issueDeferredCredential)
export class IssueDeferredCredential {
  constructor(
    private readonly haip: HaipProfile,
    private readonly streams: Streams,
    private readonly accessTokens: AccessTokens,
    private readonly deferred: DeferredIssuances,
    private readonly issuer: CredentialIssuer,
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly wallets: TenantWallets,
    private readonly withdrawn: WithdrawnDomains,
    private readonly encryption: MessageEncryption,
    private readonly dpop: DpopProofs,
    readonly recorder: OperationRecorder,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  execute(
    request: RequestOf<typeof issueDeferredCredential>,
    context: HolderContext,
  ): Promise<CredentialResponse | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, issueDeferredCredential, context, (record) => this.answer(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async answer(
    raw: RawRequest,
    { tenant }: HolderContext,
    record: WalletRecord,
  ): Promise<CredentialResponse | HttpAnswer> {
    const now = this.clock.now();
    checkContentType(raw);
    const authorized = await this.accessTokens.authorize(raw, issueDeferredCredential, tenant, now, record);
    const { session } = authorized;
    const { origin } = session;
    const wallet =
      origin.kind === 'authorizationRequest' ? await this.wallets.findWallet(tenant.id, origin.clientId) : undefined;
    await this.haip.enforce(tenant.id, () => checkHaipSession(session, wallet));
    if (!session.deferrals) authorized.requireCurrent();
    const { transactionId, responseEncryption } = parseDeferredRequest(
      await this.encryption.openRequest(raw, tenant.id),
    );
    const found = this.deferred.find(session, transactionId, tenant.id, now);
    // A token from a refresh may cover less than that of the credential request (§9).
    const covered = session.authorizationDetails ?? session.entries;
    const isCovered = (id: string) => covered.some(({ credentialConfigurationId }) => credentialConfigurationId === id);
    if (!found || found.status === 'completed' || !isCovered(found.credentialConfigurationId)) {
      authorized.requireCurrent();
      throw invalidTransactionId();
    }
    record.addMetadata({ deferralId: found.deferralId, credentialConfigurationId: found.credentialConfigurationId });
    const [{ state: person }, isClientAllowed] = await Promise.all([
      this.streams.load(user, userStream(tenant.id, session.userId)),
      this.isClientAllowed(origin, wallet, tenant.id),
    ]);
    const deferral = checkRights(found, session, person, isClientAllowed);
    const issued = deferral.status === 'approved' && (await this.issue(deferral, authorized, tenant, now, record));
    if (!issued) return deferredAnswer(deferredResponse(transactionId), responseEncryption);
    const response: CredentialResponse = {
      credentials: issued.credentials.map((credential) => ({ credential })),
      notification_id: issued.answerId,
    };
    return responseEncryption ? encryptAnswer(response, responseEncryption) : response;
  }

  /** A pre-authorized code is exchanged by any client (OID4VCI 1.0 §6.1). */
  private async isClientAllowed(
    origin: SessionOrigin,
    wallet: RegisteredWallet | undefined,
    tenantId: string,
  ): Promise<boolean> {
    if (origin.kind !== 'authorizationRequest') return true;
    // One that was registered later is another client.
    if (Boolean(wallet) !== Boolean(origin.isRegistered)) return false;
    return wallet ? !wallet.disabled : this.wallets.isAllowed(tenantId, origin);
  }

  /** Undefined while a claims source has no claims yet. */
  private async issue(
    { deferralId, holders, credentialConfigurationId, credentialIdentifier }: OpenDeferral,
    { stream, loaded, tokenId, session, requireSession }: AuthorizedSession,
    tenant: TenantContext,
    now: Date,
    record: WalletRecord,
  ): Promise<IssuedAnswer | undefined> {
    const configuration = await this.configurations.find(tenant.id, credentialConfigurationId);
    if (!configuration)
      throw oauthError('credential_request_denied', 'the credential configuration was deleted', {
        check: 'issue-deferred-credential',
      });
    const { kind } = this.formats.byName[configuration.format].resources.signer;
    const certifiedIssuer = kind === 'pinnedKey' ? undefined : session.issuer;
    await checkIssuerDomain(configuration, certifiedIssuer, tenant, this.withdrawn);
    try {
      return await this.issuer.issue(
        {
          ...{
            tenant,
            session,
            configuration,
            holders,
            now,
            stream,
            loaded,
            tokenId,
            credentialIdentifier,
            deferralId,
          },
          check: (state) => checkIssuanceLimit(requireSession(state), configuration, holders.length, now, deferralId),
          complete: (state, answerId) => completeDeferral(state, { deferralId, answerId }, now),
        },
        record,
      );
    } catch (error) {
      if (error instanceof ClaimsNotReady) return undefined;
      throw error;
    }
  }
}
