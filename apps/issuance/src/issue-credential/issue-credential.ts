import { Inject } from '@nestjs/common';
import {
  AppError,
  issueCredential,
  oauthError,
  type CredentialResponse,
  type HolderContext,
  type HttpAnswer,
  type RawRequest,
  type UserLink,
} from '@attestry/contracts';
import {
  EventStoreUnavailable,
  Streams,
  type Clock,
  type FurtherDecision,
  type Ids,
  type Loaded,
} from '@attestry/event-store';
import { KeyNotFound, Macs, pooledBytes, ReplayGuard, Sealing, SigningKeys, type Sealed } from '@attestry/keys';
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
import { claimsOfCredential } from '../claim-sets/claim-sets.js';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { DeliveryInterest } from '../delivery-interest/delivery-interest.directory.js';
import { DocumentSigners } from '../document-signers/document-signers.js';
import type { UnsignedCredential } from '../formats/format.js';
import { Formats } from '../formats/formats.js';
import { statusSeriesOf } from '../formats/status-series.js';
import type { IssuanceSessionEvent } from '../issuance-session/issuance-session.events.js';
import { issuanceSession, type RedeemedSession } from '../issuance-session/issuance-session.state.js';
import { recordCredential } from '../issued-credential/issued-credential.decisions.js';
import {
  issuedCredential,
  issuedCredentialStream,
  type IssuedCredentialState,
} from '../issued-credential/issued-credential.state.js';
import { IssuerSigners, type IssuingSigner } from '../issuer-certificates/issuer-signers.js';
import { encryptAnswer, MessageEncryption } from '../message-encryption/message-encryption.js';
import { PersistedCredentials } from '../persisted-credential/persisted-credentials.js';
import { CurrentConfigurations } from '../protocol/current-configurations.js';
import type { DpopProof } from '../protocol/dpop-proof.js';
import { DpopProofs, dpopResourceError, PROOF_USED, singleUseOf } from '../protocol/dpop-proofs.js';
import { mergeClaims } from '../protocol/map-claims.js';
import { rawOf } from '../protocol/raw-request.js';
import { recordOutcome, type WalletRecord } from '../protocol/record-outcome.js';
import { StatusIndexes, type AllocatedStatus } from '../status-list/status-indexes.js';
import { user, userStream } from '../user/user.state.js';
import { WithdrawnDomains } from '../withdrawn-domains/withdrawn-domains.directory.js';
import { checkAccessTokenLocation } from './check-access-token-location.js';
import { checkConfiguration } from './check-configuration.js';
import { checkContentType } from './check-content-type.js';
import { checkDistinctKeys } from './check-distinct-keys.js';
import { checkIssuanceLimit } from './check-issuance-limit.js';
import { checkIssuerDomain } from './check-issuer-domain.js';
import { checkNonce } from './check-nonce.js';
import { checkTokenBinding } from './check-token-binding.js';
import { credentialTexts } from './credential-texts.js';
import { loadAccessToken } from './load-access-token.js';
import { parseCredentialRequest, type CredentialSelector } from './parse-credential-request.js';
import type { PresentedToken } from './presented-token.js';
import { spendNonce } from './spend-nonce.js';
import { verifyJwtProof, type VerifiedProof } from './verify-jwt-proof.js';

/** What a request has used when it is refused. */
interface Progress {
  /** Allocated for this request; those that a refusal leaves here are in no event. */
  statuses: AllocatedStatus[];
  /** The single-use values may be spent. */
  isDecided: boolean;
}

/** Credential endpoint, OID4VCI §8: the checks in their order. */
@Operation(issueCredential)
export class IssueCredential {
  private readonly newCredential: Loaded<IssuedCredentialState>;

  constructor(
    private readonly streams: Streams,
    private readonly configurations: CurrentConfigurations,
    private readonly formats: Formats,
    private readonly interest: DeliveryInterest,
    private readonly withdrawn: WithdrawnDomains,
    private readonly macs: Macs,
    private readonly sealing: Sealing,
    private readonly signingKeys: SigningKeys,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly persisted: PersistedCredentials,
    private readonly statusIndexes: StatusIndexes,
    private readonly encryption: MessageEncryption,
    private readonly guard: ReplayGuard,
    private readonly dpop: DpopProofs,
    readonly recorder: OperationRecorder,
    private readonly config: PlatformConfig,
    @Inject(LOGGER) readonly logger: Logger,
    @Inject(CLOCK) readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {
    this.newCredential = streams.initial(issuedCredential);
  }

  execute(
    request: RequestOf<typeof issueCredential>,
    context: HolderContext,
  ): Promise<CredentialResponse | HttpAnswer> {
    const raw = rawOf(request);
    if (raw.headers['dpop'] === undefined) return this.answer(raw, context);
    return this.dpop.withNonce(context.tenant.id, () => this.answer(raw, context));
  }

  private answer(raw: RawRequest, context: HolderContext): Promise<CredentialResponse | HttpAnswer> {
    return recordOutcome(this, issueCredential, context, async (record) => {
      const now = this.clock.now();
      checkContentType(raw);
      const credentials = checkAccessTokenLocation(raw);
      const presented = await loadAccessToken(credentials, context.tenant.id, now, this.streams, this.macs, record);
      const { accessToken } = presented.session;
      const progress: Progress = { statuses: [], isDecided: false };
      let proof: DpopProof | undefined;
      try {
        if (credentials.scheme === 'dpop' || accessToken.jkt !== undefined)
          proof = await checkTokenBinding(credentials, accessToken, raw, context.tenant, this.dpop);
        return await this.issue(presented, proof, raw, context, record, now, progress);
      } catch (error) {
        if (error instanceof AppError && error.kind !== 'unavailable') {
          this.statusIndexes.giveBack(progress.statuses);
          await presented.confirm();
          if (proof) await this.spendRefusedProof(proof, context.tenant.id, error, progress);
        }
        throw error;
      }
    });
  }

  /** A proof is used once, also by a request that is refused. Of values that were spent together, this tells which one was used before. */
  private async spendRefusedProof(proof: DpopProof, tenantId: string, refusal: AppError, { isDecided }: Progress) {
    if (isDecided && refusal.code !== 'invalid_nonce') return;
    if (!(await this.guard.spendAll(tenantId, [singleUseOf(proof)]))) throw dpopResourceError(PROOF_USED);
  }

  private async issue(
    presented: PresentedToken,
    proof: DpopProof | undefined,
    raw: RawRequest,
    context: HolderContext,
    record: WalletRecord,
    now: Date,
    progress: Progress,
  ): Promise<CredentialResponse | HttpAnswer> {
    const { id: tenantId } = context.tenant;
    const { session } = presented;
    const { statuses } = progress;
    const opened = await this.encryption.openRequest(raw, tenantId);
    const requested = parseCredentialRequest(opened, session.authorizationDetails !== undefined);
    const configuration = await checkConfiguration(session, requested.selector, tenantId, this.configurations);
    record.addMetadata({ credentialConfigurationId: configuration.id });
    const format = this.formats.byName[configuration.format];
    const { kind } = format.resources.signer;
    const certifiedIssuer = kind === 'pinnedKey' ? undefined : session.issuer;
    await checkIssuerDomain(configuration, certifiedIssuer, context.tenant, this.withdrawn);
    const expected = {
      issuer: session.issuer,
      ...(session.origin.kind === 'authorizationRequest' && { clientId: session.origin.clientId }),
      now,
      windowSeconds: this.config.proofWindowSeconds,
    };
    const proofs: VerifiedProof[] = [];
    for (const jwt of requested.proofs) proofs.push(verifyJwtProof(jwt, expected));
    if (proofs.length > 1) checkDistinctKeys(proofs);
    const nonces = checkNonce(proofs, tenantId, now, this.macs);
    checkIssuanceLimit(session, configuration, proofs.length);
    const [claims, signer, delivered]: [Record<string, unknown>, IssuingSigner, boolean] = await Promise.all([
      this.claimsOf(tenantId, session, configuration, requested.selector),
      kind === 'pinnedKey'
        ? this.signingKeys.loadSigner(tenantId, configuration.issuerKey!.kmsKeyId)
        : kind === 'issuerSigner'
          ? this.issuerSigners.loadSigner(tenantId, session.issuer, record.events)
          : this.documentSigners.loadSigner(
              tenantId,
              { docType: configuration.type, hasStatus: configuration.content.revocable === true },
              record.events,
            ),
      this.interest.hasSubscription(tenantId),
    ]);

    const series =
      configuration.content.revocable && statusSeriesOf(format.resources, configuration, session.issuer, signer);
    if (series) statuses.push(...(await this.statusIndexes.allocate(context.tenant, series, proofs.length)));

    const unsigned: UnsignedCredential[] = [];
    const shared = { configuration, claims, issuer: session.issuer, signer, time: now, random: pooledBytes };
    for (const [index, { holder }] of proofs.entries()) {
      const status = statuses[index];
      unsigned.push(format.prepare({ ...shared, holder, credentialId: this.ids.uuid(), ...(status && { status }) }));
    }
    const credentials = await format.sign(tenantId, unsigned, signer);
    const persists = configuration.content.persist === true;
    const texts = delivered || persists ? credentialTexts(credentials) : [];
    const documents = delivered ? texts.map((text) => this.sealForDelivery(tenantId, text)) : [];
    const answerId = this.ids.uuid();
    const offerId = session.origin.kind === 'preAuthorizedOffer' ? session.id : session.origin.offerId;
    const issued: IssuanceSessionEvent[] = [];
    const credentialIds: string[] = [];
    const further: FurtherDecision[] = [];
    const newKeys = documents.map(({ keyId, newKey }) => ({ keyId, newKey }));
    for (const [index, credential] of unsigned.entries()) {
      const status = statuses[index];
      const facts = {
        credentialId: credential.credentialId,
        answerId,
        sessionId: session.id,
        ...(offerId !== undefined && { offerId }),
        userId: session.userId,
        issuer: session.issuer,
        format: configuration.format,
        profile: format.profile,
        credentialType: configuration.type,
        credentialConfigurationId: configuration.id,
        holderKey: { ...credential.holderKey },
        issuedAt: now.toISOString(),
        validFrom: credential.validFrom.toISOString(),
        ...(credential.validUntil && { validUntil: credential.validUntil.toISOString() }),
        ...(status && { status: { listId: status.listId, index: status.index } }),
      };
      credentialIds.push(credential.credentialId);
      const document = documents[index];
      issued.push({
        type: 'CredentialIssued',
        data: {
          ...facts,
          ...(credential.digests && { digests: credential.digests }),
          ...(document && { documentKeyId: document.keyId }),
        },
      });
      const recorded = {
        ...facts,
        ...(configuration.issuerKey && { issuerDid: configuration.issuerKey.did }),
        ...(signer.certificate
          ? { signerCertificate: signer.certificate.fingerprint }
          : { verificationMethod: configuration.issuerKey!.verificationMethod }),
        configurationVersion: configuration.version,
        tokenId: presented.tokenId,
        ...(document && { document: { keyId: document.keyId, sealed: document.sealed } }),
      };
      const stream = issuedCredentialStream(tenantId, credential.credentialId);
      further.push(
        this.streams.further(
          issuedCredential,
          stream,
          this.newCredential,
          (state) => recordCredential(state, recorded),
          record.events,
        ),
      );
    }
    if (persists) {
      const kept = await this.persistAll(tenantId, session.userId, credentialIds, texts, record);
      for (const [index, { newKey, decision }] of kept.entries()) {
        newKeys.push({ keyId: credentialIds[index]!, newKey });
        further.push(decision);
      }
    }
    record.addMetadata({ credentialIds });
    const writes = [spendNonce(nonces, tenantId, this.guard, proof), ...newKeys.map(({ newKey }) => newKey)];
    try {
      await this.streams.decideOn(
        issuanceSession,
        presented.stream,
        presented.loaded,
        (state) => {
          // Checked again on the state of the append: the offer may have been deleted, the limit reached.
          checkIssuanceLimit(presented.requireSession(state), configuration, issued.length);
          progress.isDecided = true;
          return issued;
        },
        record.events,
        { unit: { writes, further } },
      );
    } catch (error) {
      // The streams of the credentials may have been appended to (ADR 0074), unless the nonce was refused, which is spent before.
      if (progress.isDecided && !(error instanceof AppError && error.code === 'invalid_nonce')) statuses.length = 0;
      // Refused by the session: nothing will destroy the keys of these documents. After a failed store the session may have counted them.
      const left = newKeys.filter(({ newKey }) => newKey.isStored).map(({ keyId }) => keyId);
      if (left.length && !(error instanceof EventStoreUnavailable)) await this.sealing.destroyDataKeys(tenantId, left);
      throw error;
    }
    const response: CredentialResponse = { credentials: [] };
    for (const credential of credentials) response.credentials.push({ credential });
    return requested.responseEncryption ? encryptAnswer(response, requested.responseEncryption) : response;
  }

  /** The user's own claims, then the offer's or the provider's, then those of the claim set, mapped by the configuration. */
  private async claimsOf(
    tenantId: string,
    session: RedeemedSession,
    configuration: ActiveConfiguration,
    selector: CredentialSelector,
  ): Promise<Record<string, unknown>> {
    const { state: person } = await this.streams.load(user, userStream(tenantId, session.userId));
    const known = person.status === 'active' ? person : undefined;
    // One who began with this offer may have no event yet (ADR 0071).
    if (!known && !(person.status === 'absent' && session.newUser)) throw gone();
    const [own, ofSession, link] = await Promise.all([
      this.openSealedClaims(tenantId, 'user', known?.sealedClaims),
      this.openSealedClaims(tenantId, 'session', session.sealedClaims),
      this.openSealedClaims(tenantId, 'user', known?.sealedLink),
    ]);
    const credentialIdentifier = 'credentialIdentifier' in selector ? selector.credentialIdentifier : undefined;
    const offered = session.identifiers && ofSession ? claimsOfCredential(ofSession, credentialIdentifier) : ofSession;
    return this.formats.byName[configuration.format].mapClaims(configuration, {
      claims: mergeClaims(own, offered),
      ...(link && { authenticationProvider: link as unknown as UserLink }),
    });
  }

  private async openSealedClaims(
    tenantId: string,
    purpose: 'user' | 'session',
    sealed: Sealed | undefined,
  ): Promise<Record<string, unknown> | undefined> {
    if (sealed === undefined) return undefined;
    const text = await this.sealing.openSealed(tenantId, purpose, sealed);
    if (typeof text !== 'string') throw gone();
    return JSON.parse(text) as Record<string, unknown>;
  }

  private async persistAll(
    tenantId: string,
    userId: string,
    credentialIds: readonly string[],
    texts: readonly string[],
    record: WalletRecord,
  ) {
    try {
      return await Promise.all(
        texts.map((text, index) =>
          this.persisted.persist(tenantId, { credentialId: credentialIds[index]!, userId, text }, record.events),
        ),
      );
    } catch (error) {
      // The user is being deleted: the key is destroyed first.
      if (error instanceof KeyNotFound) throw gone();
      throw error;
    }
  }

  private sealForDelivery(tenantId: string, text: string) {
    const keyId = this.ids.uuid();
    return { keyId, ...this.sealing.sealWithNewKey(tenantId, 'delivery', keyId, text) };
  }
}

/** The user or the session's claims were deleted. */
const gone = () =>
  oauthError('credential_request_denied', 'the claims of this offer are no longer available', {
    check: 'issue-credential',
  });
