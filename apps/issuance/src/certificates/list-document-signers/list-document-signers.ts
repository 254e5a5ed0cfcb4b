import { Inject } from '@nestjs/common';
import {
  listDocumentSigners,
  listStatusListSigners,
  type ClientContext,
  type DocumentSigner,
  type PageOf,
} from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { signerView } from '../mobile-certificates/certificate-views.js';
import { publishedSigners } from '../mobile-certificates/signer.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { signerUseOf } from '../mobile-certificates/signer-use.js';
import { pageOf } from '../../reading/bounded-pages/page-of.js';

@Operation(listDocumentSigners, listStatusListSigners)
export class ListDocumentSigners {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    { query }: RequestOf<typeof listDocumentSigners>,
    { tenant, operation }: ClientContext,
  ): Promise<PageOf<DocumentSigner>> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    const now = this.clock.now();
    const use = signerUseOf({ operation });
    return pageOf(
      publishedSigners(state, now, use).map((signer) => signerView(signer, now)),
      query,
    );
  }
}
