import { Inject } from '@nestjs/common';
import { listIacas, type ClientContext, type Iaca, type PageOf } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { iacaView } from '../mobile-certificates/certificate-views.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';
import { pageOf } from '../../reading/bounded-pages/page-of.js';

@Operation(listIacas)
export class ListIacas {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ query }: RequestOf<typeof listIacas>, { tenant }: ClientContext): Promise<PageOf<Iaca>> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    const now = this.clock.now();
    return pageOf(
      state.iacas.map((iaca) => iacaView(iaca, now)),
      query,
    );
  }
}
