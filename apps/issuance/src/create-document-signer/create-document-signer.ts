import { Inject } from '@nestjs/common';
import { createDocumentSigner, type ContextOf, type DocumentSigner } from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { CLOCK, eventContext, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { CertificateKeys } from '../certificate-keys/certificate-keys.js';
import { signerName } from '../document-signers/document-signers.js';
import { signerView } from '../mobile-certificates/certificate-views.js';
import {
  checkSignerRequest,
  requestSigner,
  requireSigner,
} from '../mobile-certificates/mobile-certificates.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { derOf } from '../mobile-certificates/stored-x509.js';

@Operation(createDocumentSigner)
export class CreateDocumentSigner {
  constructor(
    private readonly keys: CertificateKeys,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(IDS) private readonly ids: Ids,
  ) {}

  async execute(
    { body }: RequestOf<typeof createDocumentSigner>,
    context: ContextOf<typeof createDocumentSigner>,
  ): Promise<DocumentSigner> {
    const documentSignerId = idFor(context, 'document signer', this.ids);
    const { state } = await this.keys.runDecision(
      {
        aggregate: mobileCertificates,
        stream: mobileCertificatesStream(context.tenant.id),
        decide: async ({ state: before }, makeKeys) => {
          const now = this.clock.now();
          const iaca = checkSignerRequest(before, body.iacaId, now);
          const { createDocumentSignerRequest } = await import('@attestry/certificates');
          const [key] = await makeKeys(1);
          const csr = await createDocumentSignerRequest(key!, derOf(iaca), signerName(iaca.data.commonName));
          return requestSigner(before, { documentSignerId, iacaId: iaca.iacaId, keyId: key!.keyId, csr }, now);
        },
        keysOf: ({ signers }) => signers.map(({ keyId }) => keyId),
      },
      eventContext(context),
      { once: true },
    );
    return signerView(requireSigner(state, documentSignerId), this.clock.now());
  }
}
