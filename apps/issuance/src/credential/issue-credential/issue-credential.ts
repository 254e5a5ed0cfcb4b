import { Inject } from '@nestjs/common';
import {
  AppError,
  issueCredential,
  type CredentialResponse,
  type HolderContext,
  type HttpAnswer,
  type RawRequest,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Macs, ReplayGuard, type Spending } from '@attestry/keys';
import {
  CLOCK,
  LOGGER,
  Operation,
  OperationRecorder,
  PlatformConfig,
  type Logger,
  type RequestOf,
} from '@attestry/service-kit';
import { ClaimsNotReady } from '../../claims/credential-claims/claims-not-ready.js';
import { CredentialIssuer, type IssuedAnswer } from '../credential-issuer/credential-issuer.js';
import { deferredAnswer, DeferredIssuances } from '../deferred-issuance/deferred-issuances.js';
import type { IssuanceSessionState } from '../../sessions/issuance-session/issuance-session.state.js';
import { Formats } from '../../formats/formats.js';
import { checkHaipSession } from '../../wallets/haip-profile/check-haip.js';
import { HaipProfile } from '../../wallets/haip-profile/haip-profile.js';
import { IssuerNames } from '../../issuer/issuer-names/issuer-names.js';
import { encryptAnswer, MessageEncryption } from '../message-encryption/message-encryption.js';
import { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import type { DpopProof } from '../../wallets/dpop/dpop-proof.js';
import { DpopProofs, dpopResourceError, PROOF_USED, singleUseOf } from '../../wallets/dpop/dpop-proofs.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { recordOutcome, type WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { WithdrawnDomains } from '../../issuer/issuer-domain/withdrawn-domains.directory.js';
import { checkAccessTokenLocation } from '../../token/access-token/check-access-token-location.js';
import { checkConfiguration } from './check-configuration.js';
import { checkContentType } from '../message-encryption/check-content-type.js';
import { checkIssuanceLimit } from '../credential-issuer/check-issuance-limit.js';
import { checkIssuerDomain } from '../../issuer/issuer-domain/check-issuer-domain.js';
import { checkTokenBinding } from '../../token/access-token/check-token-binding.js';
import { loadAccessToken } from '../../token/access-token/load-access-token.js';
import { parseCredentialRequest } from './parse-credential-request.js';
import { spendNonce } from './spend-nonce.js';
import { verifyProofs } from './verify-proofs.js';

/** Credential endpoint, OID4VCI §8: the checks in their order. */
@Operation(issueCredential)
export class IssueCredential {
  constructor(
    private readonly streams: Streams,
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly issuer: CredentialIssuer,
    private readonly deferred: DeferredIssuances,
    private readonly withdrawn: WithdrawnDomains,
    private readonly macs: Macs,
    private readonly encryption: MessageEncryption,
    private readonly haip: HaipProfile,
    private readonly names: IssuerNames,
    private readonly guard: ReplayGuard,
    private readonly dpop: DpopProofs,
    readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  execute(
    request: RequestOf<typeof issueCredential>,
    context: HolderContext,
  ): Promise<CredentialResponse | HttpAnswer> {
    const raw = rawOf(request);
    const answer = recordOutcome(this, issueCredential, context, (record) => this.answer(raw, context, record));
    return this.dpop.withNonce(raw, context.tenant.id, answer);
  }

  private async answer(
    raw: RawRequest,
    { tenant }: HolderContext,
    record: WalletRecord,
  ): Promise<CredentialResponse | HttpAnswer> {
    const now = this.clock.now();
    checkContentType(raw);
    const credentials = checkAccessTokenLocation(raw);
    const presented = await loadAccessToken(credentials, tenant.id, now, this.streams, this.macs, record);
    const { session } = presented;
    let proof: DpopProof | undefined;
    let spending: Spending | undefined;
    let isDecided = false;
    try {
      if (credentials.scheme === 'dpop' || session.accessToken.jkt !== undefined)
        proof = await checkTokenBinding(credentials, session.accessToken, raw, issueCredential, tenant, this.dpop);
      await this.haip.enforce(tenant.id, () => checkHaipSession(session));
      const opened = await this.encryption.openRequest(raw, tenant.id);
      const requested = parseCredentialRequest(opened, session.authorizationDetails !== undefined);
      const { selector, responseEncryption } = requested;
      const covered = await checkConfiguration(session, selector, tenant.id, this.configurations);
      const { configuration, credentialIdentifier } = covered;
      record.addMetadata({ credentialConfigurationId: configuration.id });
      const { resources, proofAlgorithms } = this.formats.byName[configuration.format];
      const certifiedIssuer = resources.signer.kind === 'pinnedKey' ? undefined : session.issuer;
      await checkIssuerDomain(configuration, certifiedIssuer, tenant, this.withdrawn);
      const expected = {
        issuer: tenant.baseUrl,
        isOtherName: (name: string) => this.names.includes(tenant, name, session.issuer),
        ...(session.origin.kind === 'authorizationRequest' && { clientId: session.origin.clientId }),
        ...{ tenantId: tenant.id, now, windowSeconds: this.config.proofWindowSeconds },
        algorithms: proofAlgorithms,
      };
      const { holders, nonces } = await verifyProofs(requested.proofs, configuration.content, expected, this.macs);
      checkIssuanceLimit(session, configuration, holders.length, now);
      spending = spendNonce(nonces, tenant.id, this.guard, proof);
      const order = {
        ...{ tenant, session, configuration, holders, now, spending },
        ...{ stream: presented.stream, loaded: presented.loaded, tokenId: presented.tokenId },
        credentialIdentifier,
        check: (state: IssuanceSessionState) => {
          // The offer may have been deleted, the limit reached.
          checkIssuanceLimit(presented.requireSession(state), configuration, holders.length, now);
          isDecided = true;
        },
      };
      let issued: IssuedAnswer | undefined;
      try {
        if (configuration.content.approval !== 'manual') issued = await this.issuer.issue(order, record);
      } catch (error) {
        if (!(error instanceof ClaimsNotReady)) throw error;
      }
      if (!issued) return deferredAnswer(await this.deferred.defer(order, record), responseEncryption);
      const response: CredentialResponse = { credentials: [], notification_id: issued.answerId };
      for (const credential of issued.credentials) response.credentials.push({ credential });
      return responseEncryption ? encryptAnswer(response, responseEncryption) : response;
    } catch (error) {
      if (error instanceof AppError && error.kind !== 'unavailable') {
        await presented.confirm();
        // A proof is used once, also by a request that is refused. Of values that were spent together, this tells which one was used before.
        if (proof && (!isDecided || error.code === 'invalid_nonce')) {
          const spent = spending ? spending.spendAlways() : this.guard.spendAll(tenant.id, [singleUseOf(proof)]);
          if (!(await spent)) throw dpopResourceError(PROOF_USED);
        }
      }
      throw error;
    }
  }
}
