import { Inject, Injectable } from '@nestjs/common';
import { AppError } from '@attestry/contracts';
import type { Ids } from '@attestry/event-store';
import { pooledBytes, SigningKeys } from '@attestry/keys';
import { IDS } from '@attestry/service-kit';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import { IssuerSigners, type IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { ClaimsNotReady } from '../../claims/credential-claims/claims-not-ready.js';
import { CredentialClaims } from '../../claims/credential-claims/credential-claims.js';
import type { UnsignedCredential } from '../../formats/format.js';
import { Formats } from '../../formats/formats.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import { DeliveryInterest } from '../../registry/delivery-interest/delivery-interest.directory.js';
import { StatusIndexes, type AllocatedStatus } from '../../status-lists/status-list/status-indexes.js';
import type { CredentialOrder } from './credential-order.js';
import type { IssuanceFacts } from './plan-issuance.decisions.js';

type Claims = Record<string, unknown>;

/** The credentials of an answer, of which nothing is stored yet. */
export interface SignedAnswer extends Pick<IssuanceFacts, 'profile' | 'signerCertificate' | 'unsigned'> {
  /** Each a compact string, or a JSON object, in the order of the holders. */
  credentials: (string | Record<string, unknown>)[];
  /** One for each credential of a revocable configuration, none otherwise. */
  statuses: AllocatedStatus[];
  /** Whether a webhook subscribes to issued credentials. */
  delivered: boolean;
}

/** Loads what credentials are made of, and signs them. */
@Injectable()
export class SignedCredentials {
  constructor(
    private readonly claims: CredentialClaims,
    private readonly formats: Formats,
    private readonly signingKeys: SigningKeys,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly statusIndexes: StatusIndexes,
    private readonly interest: DeliveryInterest,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  /** @throws AppError */
  async sign(order: CredentialOrder): Promise<SignedAnswer | 'claimsNotReady'> {
    const { tenant, session, configuration, holders, now, record } = order;
    const format = this.formats.byName[configuration.format];
    const { kind } = format.resources.signer;
    const [claims, signer, delivered]: [Claims | undefined, IssuingSigner, boolean] = await Promise.all([
      this.claims
        .claimsOf(tenant.id, session, configuration, order.credentialIdentifier, record)
        .catch(undefinedWhereNotReady),
      kind === 'pinnedKey'
        ? this.signingKeys.loadSigner(tenant.id, configuration.issuerKey!.kmsKeyId)
        : kind === 'issuerSigner'
          ? this.issuerSigners.loadSigner(tenant.id, session.issuer, record.events)
          : this.documentSigners.loadSigner(
              tenant.id,
              { docType: configuration.type, hasStatus: configuration.content.revocable === true },
              record.events,
            ),
      this.interest.hasSubscription(tenant.id),
    ]);
    if (!claims) return 'claimsNotReady';
    const series =
      configuration.content.revocable && statusSeriesOf(format.resources, configuration, session.issuer, signer);
    const statuses = series ? await this.statusIndexes.allocate(tenant, series, holders.length) : [];
    try {
      const shared = { configuration, claims, issuer: session.issuer, signer, time: now, random: pooledBytes };
      const unsigned: UnsignedCredential[] = [];
      for (const [index, holder] of holders.entries()) {
        const status = statuses[index];
        unsigned.push(format.prepare({ ...shared, holder, credentialId: this.ids.uuid(), ...(status && { status }) }));
      }
      const credentials = await format.sign(tenant.id, unsigned, signer);
      const signerCertificate = signer.certificate?.fingerprint;
      return { profile: format.profile, signerCertificate, unsigned, credentials, statuses, delivered };
    } catch (error) {
      this.giveBack(statuses, error);
      throw error;
    }
  }

  /** Statuses that no event has, after a refusal; where the outcome is unknown, they are never used again. */
  giveBack(statuses: AllocatedStatus[], error: unknown): void {
    if (error instanceof AppError && error.kind !== 'unavailable') this.statusIndexes.giveBack(statuses);
  }
}

const undefinedWhereNotReady = (error: unknown): undefined => {
  if (!(error instanceof ClaimsNotReady)) throw error;
};
