import { Inject } from '@nestjs/common';
import {
  retrieveDocumentSigner,
  retrieveStatusListSigner,
  type ClientContext,
  type DocumentSigner,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { signerView } from '../mobile-certificates/certificate-views.js';
import { requireSigner } from '../mobile-certificates/signer.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { signerUseOf } from '../mobile-certificates/signer-use.js';

@Operation(retrieveDocumentSigner, retrieveStatusListSigner)
export class RetrieveDocumentSigner {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { params }: RequestOf<typeof retrieveDocumentSigner>,
    { tenant, operation }: ClientContext,
  ): Promise<DocumentSigner> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    const use = signerUseOf({ operation });
    return signerView(requireSigner(state, params.id, use), this.clock.now());
  }
}
