import { Inject } from '@nestjs/common';
import { retrieveIaca, type ClientContext, type Iaca } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import { iacaView } from '../mobile-certificates/certificate-views.js';
import { requireIaca } from '../mobile-certificates/iaca.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(retrieveIaca)
export class RetrieveIaca {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params }: RequestOf<typeof retrieveIaca>, { tenant }: ClientContext): Promise<Iaca> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    return iacaView(requireIaca(state, params.id), this.clock.now());
  }
}
