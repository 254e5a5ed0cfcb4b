import { Injectable } from '@nestjs/common';
import type { EventContext, Fence } from '@attestry/event-store';
import { Crls } from '../document-signers/crls.js';
import { DocumentSigners } from '../document-signers/document-signers.js';
import { EncryptionKeys } from '../encryption-keys/encryption-keys.js';
import { IssuerSigners } from '../issuer-certificates/issuer-signers.js';
import type { DueCertificate } from './due-certificates.projection.js';

/** How each kind of what is due is renewed, or its private key destroyed. */
@Injectable()
export class CertificateRenewals {
  constructor(
    private readonly issuerSigners: IssuerSigners,
    private readonly documentSigners: DocumentSigners,
    private readonly crls: Crls,
    private readonly encryptionKeys: EncryptionKeys,
  ) {}

  /** Not under a domain that the tenant has lost, until it is verified again. */
  async isWithdrawn({ tenant_id: tenantId, kind, name }: DueCertificate): Promise<boolean> {
    return kind === 'issuerSigner' && (await this.issuerSigners.isWithdrawn(tenantId, name));
  }

  async renew(
    { tenant_id: tenantId, kind, name }: DueCertificate,
    context: EventContext,
    fence: Fence,
  ): Promise<unknown> {
    switch (kind) {
      case 'issuerSigner':
        return this.issuerSigners.renew(tenantId, name, context, fence);
      case 'replacedKey':
        return this.issuerSigners.destroyReplacedKeys(tenantId, context, fence);
      case 'encryptionKey':
        return this.encryptionKeys.renew(tenantId, context, fence);
      case 'replacedEncryptionKey':
        return this.encryptionKeys.destroyReplacedKeys(tenantId, context, fence);
      case 'endedKey':
        return this.documentSigners.destroyEndedKeys(tenantId, context, fence);
      case 'crl':
        return this.crls.renew(tenantId, name, context, fence);
      default:
        return this.documentSigners.renew(tenantId, { iacaId: name, documents: kind }, context, fence);
    }
  }
}
