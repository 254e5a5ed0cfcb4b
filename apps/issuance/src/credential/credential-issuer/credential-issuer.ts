import { Inject, Injectable } from '@nestjs/common';
import { AppError, type TenantContext } from '@attestry/contracts';
import {
  EventStoreUnavailable,
  Streams,
  type FurtherDecision,
  type Ids,
  type Loaded,
  type UnitWrite,
} from '@attestry/event-store';
import { KeyNotFound, pooledBytes, Sealing, SigningKeys } from '@attestry/keys';
import { IDS } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { DeliveryInterest } from '../../registry/delivery-interest/delivery-interest.directory.js';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import type { Holder, UnsignedCredential } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import type { IssuanceSessionEvent } from '../../sessions/issuance-session/issuance-session.events.js';
import {
  issuanceSession,
  type IssuanceSessionState,
  type RedeemedSession,
} from '../../sessions/issuance-session/issuance-session.state.js';
import { recordCredential } from '../../sessions/issued-credential/issued-credential.decisions.js';
import {
  issuedCredential,
  issuedCredentialStream,
  type IssuedCredentialState,
} from '../../sessions/issued-credential/issued-credential.state.js';
import { IssuerSigners, type IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { PersistedCredentials } from '../../registry/persisted-credential/persisted-credentials.js';
import type { WalletRecord } from '../../wallets/wallet-record/record-outcome.js';
import { StatusIndexes, type AllocatedStatus } from '../../status-lists/status-list/status-indexes.js';
import { claimsGone, CredentialClaims, type IssuedClaims } from '../../claims/credential-claims/credential-claims.js';
import { credentialTexts } from './credential-texts.js';

/** A checked request for credentials. */
export interface CredentialOrder {
  tenant: TenantContext;
  session: RedeemedSession;
  /** Stream of the session, and its state as far as it was read. */
  stream: string;
  loaded: Loaded<IssuanceSessionState>;
  tokenId: string;
  configuration: ActiveConfiguration;
  credentialIdentifier: string | undefined;
  /** One credential for each. */
  holders: readonly Holder[];
  now: Date;
  /** Spends the single-use values of the request, with the events. Absent where they were spent before. */
  spending?: UnitWrite;
  /** Further events of the session, in the same append. @throws AppError */
  complete?(state: IssuanceSessionState, answerId: string): IssuanceSessionEvent[];
  /** Checks the request again on the state that is appended to. @throws AppError */
  check(state: IssuanceSessionState): void;
}

export interface IssuedAnswer {
  /** Each a compact string, or a JSON object, in the order of the holders. */
  credentials: (string | Record<string, unknown>)[];
  /** Id of all of them; the wallet's `notification_id`. */
  answerId: string;
}

/** Makes, signs and records credentials: all events of one answer, with what must be stored before them, are one unit of work (ADR 0074). */
@Injectable()
export class CredentialIssuer {
  private readonly newCredential: Loaded<IssuedCredentialState>;

  constructor(
    private readonly streams: Streams,
    private readonly claims: CredentialClaims,
    private readonly formats: Formats,
    private readonly interest: DeliveryInterest,
    private readonly sealing: Sealing,
    private readonly signingKeys: SigningKeys,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly persisted: PersistedCredentials,
    private readonly statusIndexes: StatusIndexes,
    @Inject(IDS) private readonly ids: Ids,
  ) {
    this.newCredential = streams.initial(issuedCredential);
  }

  /** @throws AppError, or ClaimsNotReady before anything is stored or spent */
  async issue(order: CredentialOrder, record: WalletRecord): Promise<IssuedAnswer> {
    const { session, configuration, holders, now } = order;
    const { id: tenantId } = order.tenant;
    const format = this.formats.byName[configuration.format];
    const { kind } = format.resources.signer;
    const [issuedClaims, signer, delivered]: [IssuedClaims, IssuingSigner, boolean] = await Promise.all([
      this.claims.claimsOf(tenantId, session, configuration, order.credentialIdentifier, record),
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
    // Indexes that a refusal leaves here are in no event.
    const statuses: AllocatedStatus[] = series
      ? await this.statusIndexes.allocate(order.tenant, series, holders.length)
      : [];
    let isDecided = false;
    try {
      const unsigned: UnsignedCredential[] = [];
      const shared = { configuration, ...issuedClaims, issuer: session.issuer, signer, time: now, random: pooledBytes };
      for (const [index, holder] of holders.entries()) {
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
          tokenId: order.tokenId,
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
      const writes = [...(order.spending ? [order.spending] : []), ...newKeys.map(({ newKey }) => newKey)];
      try {
        await this.streams.decideOn(
          issuanceSession,
          order.stream,
          order.loaded,
          (state) => {
            order.check(state);
            const events = order.complete ? [...issued, ...order.complete(state, answerId)] : issued;
            isDecided = true;
            return events;
          },
          record.events,
          { unit: { writes, further } },
        );
      } catch (error) {
        // Refused by the session: nothing will destroy the keys of these documents. After a failed store the session may have counted them.
        const left = newKeys.filter(({ newKey }) => newKey.isStored).map(({ keyId }) => keyId);
        if (left.length && !(error instanceof EventStoreUnavailable))
          await this.sealing.destroyDataKeys(tenantId, left);
        throw error;
      }
      return { credentials, answerId };
    } catch (error) {
      // The streams of the credentials may have been appended to (ADR 0074), unless the nonce was refused, which is spent before.
      const isUnused = error instanceof AppError && error.kind !== 'unavailable';
      if (isUnused && (!isDecided || error.code === 'invalid_nonce')) this.statusIndexes.giveBack(statuses);
      throw error;
    }
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
      if (error instanceof KeyNotFound) throw claimsGone();
      throw error;
    }
  }

  private sealForDelivery(tenantId: string, text: string) {
    const keyId = this.ids.uuid();
    return { keyId, ...this.sealing.sealWithNewKey(tenantId, 'delivery', keyId, text) };
  }
}
