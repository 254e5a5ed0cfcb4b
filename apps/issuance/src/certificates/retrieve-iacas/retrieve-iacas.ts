import { Inject } from '@nestjs/common';
import { retrieveIacas, type IacaList, type PublicContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, Operation } from '@attestry/service-kit';
import { publishedIacas } from '../mobile-certificates/iaca.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(retrieveIacas)
export class RetrieveIacas {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<IacaList> {
    const { state } = await this.streams.load(mobileCertificates, mobileCertificatesStream(tenant.id));
    return { iacas: publishedIacas(state, this.clock.now()).map((certificate) => ({ certificate })) };
  }
}
