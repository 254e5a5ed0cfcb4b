import { Inject } from '@nestjs/common';
import { createDocumentSigner, createStatusListSigner, type ContextOf, type DocumentSigner } from '@attestry/contracts';
import type { Clock, Ids } from '@attestry/event-store';
import { CLOCK, eventContext, idFor, IDS, Operation, type RequestOf } from '@attestry/service-kit';
import { CertificateKeys } from '../certificate-keys/certificate-keys.js';
import { signerName } from '../document-signers/document-signers.js';
import { signerView } from '../mobile-certificates/certificate-views.js';
import { checkSignerRequest, requestSigner, requireSigner } from '../mobile-certificates/signer.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { signerUseOf } from '../mobile-certificates/signer-use.js';
import { derOf } from '../mobile-certificates/stored-x509.js';

/** Creates signers of documents, and of status lists. */
@Operation(createDocumentSigner, createStatusListSigner)
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
    const use = signerUseOf(context);
    const documents = use === 'status list' ? ('statusList' as const) : undefined;
    const { state } = await this.keys.runDecision(
      {
        aggregate: mobileCertificates,
        stream: mobileCertificatesStream(context.tenant.id),
        decide: async ({ state: before }, makeKeys) => {
          const now = this.clock.now();
          const iaca = checkSignerRequest(before, body.iacaId, now, use);
          const { createDocumentSignerRequest } = await import('@attestry/certificates');
          const [key] = await makeKeys(1);
          const { commonName } = iaca.data;
          const csr = await createDocumentSignerRequest(
            key!,
            derOf(iaca),
            signerName(commonName, documents),
            documents,
          );
          const requested = { documentSignerId, iacaId: iaca.iacaId, keyId: key!.keyId, csr };
          return requestSigner(before, { ...requested, ...(documents && { documents }) }, now);
        },
        keysOf: ({ signers }) => signers.map(({ keyId }) => keyId),
      },
      eventContext(context),
      { once: true },
    );
    return signerView(requireSigner(state, documentSignerId, use), this.clock.now());
  }
}
