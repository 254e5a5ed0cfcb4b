import { Injectable } from '@nestjs/common';
import { oauthError } from '@attestry/contracts';
import type { EventContext } from '@attestry/event-store';
import type { CertifiedSigner } from '../issuer-certificates/issuer-signers.js';

/** The keys that sign mdocs. No IACA exists yet. */
@Injectable()
export class DocumentSigners {
  /** @throws AppError credential_request_denied when the tenant has no active IACA */
  async loadSigner(_tenantId: string, _docType: string, _context: EventContext): Promise<CertifiedSigner> {
    throw oauthError('credential_request_denied', 'the tenant has no active IACA', { check: 'document-signers' });
  }
}
