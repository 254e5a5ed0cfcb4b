import { X509Certificate } from 'node:crypto';
import { Inject } from '@nestjs/common';
import {
  invalidBody,
  updateDocumentSigner,
  updateStatusListSigner,
  type ClientContext,
  type DocumentSigner,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { SigningKeys } from '@attestry/keys';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { refuseCertificateFaults } from '../certificate-keys/refuse-certificate-faults.js';
import { signerView } from '../mobile-certificates/certificate-views.js';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import {
  requireRequested,
  requireSigner,
  updateSigner,
  type SignerUse,
} from '../mobile-certificates/signer.decisions.js';
import type { StoredX509 } from '../mobile-certificates/mobile-certificates.events.js';
import {
  mobileCertificates,
  mobileCertificatesStream,
  type MobileCertificatesState,
} from '../mobile-certificates/mobile-certificates.state.js';
import { signerUseOf } from '../mobile-certificates/signer-use.js';
import { derOf, storedX509 } from '../mobile-certificates/stored-x509.js';

@Operation(updateDocumentSigner, updateStatusListSigner)
export class UpdateDocumentSigner {
  constructor(
    private readonly streams: Streams,
    private readonly signingKeys: SigningKeys,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params, body }: RequestOf<typeof updateDocumentSigner>,
    context: ClientContext,
  ): Promise<DocumentSigner> {
    const { id: tenantId } = context.tenant;
    const use = signerUseOf(context);
    const { state } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(tenantId),
      async (before) => {
        const issued =
          body.certificatePem === undefined
            ? undefined
            : await this.parse(tenantId, before, { id: params.id, pem: body.certificatePem, use });
        return updateSigner(before, { id: params.id, active: body.active, issued, use }, this.clock.now());
      },
      eventContext(context),
    );
    return signerView(requireSigner(state, params.id, use), this.clock.now());
  }

  private async parse(
    tenantId: string,
    state: MobileCertificatesState,
    { id, pem, use }: { id: string; pem: string; use: SignerUse },
  ): Promise<StoredX509> {
    const signer = requireRequested(state, id, use);
    const iaca = requireIaca(state, signer.iacaId);
    const { parseDocumentSigner, revokedSerialNumbers } = await import('@attestry/certificates');
    // The private key of one that was revoked or has ended is destroyed.
    const { publicKey } =
      signer.certificate === undefined
        ? await this.signingKeys.loadSigner(tenantId, signer.keyId)
        : new X509Certificate(Buffer.from(signer.certificate, 'base64'));
    const issued = await refuseCertificateFaults('certificatePem', () =>
      storedX509(parseDocumentSigner(pem, derOf(iaca), publicKey, this.clock.now(), signer.documents)),
    );
    // The list may be older than the upload of the certificate: its event names only serial numbers that were known.
    const listed = iaca.crl ? revokedSerialNumbers(Buffer.from(iaca.crl.crl, 'base64')) : [];
    if (signer.certificate === undefined && listed.includes(issued.serialNumber))
      throw invalidBody('certificatePem', 'must not be revoked by the CRL of its IACA');
    return issued;
  }
}
