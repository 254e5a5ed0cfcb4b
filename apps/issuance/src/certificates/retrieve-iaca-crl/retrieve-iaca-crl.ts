import {
  httpAnswer,
  isUnchanged,
  notFound,
  retrieveIacaCrl,
  type HttpAnswer,
  type PublicContext,
} from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';

@Operation(retrieveIacaCrl)
export class RetrieveIacaCrl {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof retrieveIacaCrl>, { tenant }: PublicContext): Promise<HttpAnswer> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    const { crl } = requireIaca(state, request.params.id);
    if (!crl) throw notFound();
    // The number is larger in each CRL of an IACA.
    const etag = `"${crl.number}"`;
    const isKnown = isUnchanged(rawOf(request).headers['if-none-match'], etag);
    return httpAnswer({ headers: { etag }, ...(isKnown ? { status: 304 } : { base64: crl.crl }) });
  }
}
