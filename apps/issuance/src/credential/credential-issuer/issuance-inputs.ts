import { Injectable } from '@nestjs/common';
import { SigningKeys } from '@attestry/keys';
import { DocumentSigners } from '../../certificates/document-signers/document-signers.js';
import { IssuerSigners, type IssuingSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { ClaimsNotReady } from '../../claims/credential-claims/claims-not-ready.js';
import { CredentialClaims, type IssuedClaims } from '../../claims/credential-claims/credential-claims.js';
import type { Format } from '../../formats/format.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import { DeliveryInterest } from '../../registry/delivery-interest/delivery-interest.directory.js';
import { StatusIndexes, type AllocatedStatus } from '../../status-lists/status-list/status-indexes.js';
import type { CredentialOrder } from './credential-order.js';

/** What is loaded for the credentials of an answer. */
export interface LoadedInputs {
  issuedClaims: IssuedClaims;
  signer: IssuingSigner;
  /** Whether a webhook subscribes to issued credentials. */
  delivered: boolean;
  /** One for each holder, where the configuration is revocable. Those of a refused answer are given back. */
  statuses: AllocatedStatus[];
}

@Injectable()
export class IssuanceInputs {
  constructor(
    private readonly claims: CredentialClaims,
    private readonly signingKeys: SigningKeys,
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly interest: DeliveryInterest,
    private readonly statusIndexes: StatusIndexes,
  ) {}

  /** Nothing is stored or spent where the claims are not ready. @throws AppError */
  async load(
    order: CredentialOrder,
    { resources }: Pick<Format, 'resources'>,
  ): Promise<LoadedInputs | 'claimsNotReady'> {
    const { tenant, session, configuration, holders, record } = order;
    const { kind } = resources.signer;
    let loaded: [IssuedClaims, IssuingSigner, boolean];
    try {
      loaded = await Promise.all([
        this.claims.claimsOf(tenant.id, session, configuration, order.credentialIdentifier, record),
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
    } catch (error) {
      if (error instanceof ClaimsNotReady) return 'claimsNotReady';
      throw error;
    }
    const [issuedClaims, signer, delivered] = loaded;
    const series = configuration.content.revocable && statusSeriesOf(resources, configuration, session.issuer, signer);
    const statuses = series ? await this.statusIndexes.allocate(tenant, series, holders.length) : [];
    return { issuedClaims, signer, delivered, statuses };
  }

  /** @param statuses that no event has */
  giveBack(statuses: AllocatedStatus[]): void {
    this.statusIndexes.giveBack(statuses);
  }
}
