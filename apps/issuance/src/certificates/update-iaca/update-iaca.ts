import { Inject } from '@nestjs/common';
import { updateIaca, type ClientContext, type Iaca } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { iacaView } from '../mobile-certificates/certificate-views.js';
import { requireIaca, updateIaca as decide } from '../mobile-certificates/iaca.decisions.js';
import { mobileCertificates, mobileCertificatesStream } from '../mobile-certificates/mobile-certificates.state.js';

@Operation(updateIaca)
export class UpdateIaca {
  constructor(
    private readonly streams: Streams,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params, body }: RequestOf<typeof updateIaca>, context: ClientContext): Promise<Iaca> {
    const { state } = await this.streams.runDecision(
      mobileCertificates,
      mobileCertificatesStream(context.tenant.id),
      (before) => decide(before, { iacaId: params.id, active: body.active }, this.clock.now()),
      eventContext(context),
    );
    return iacaView(requireIaca(state, params.id), this.clock.now());
  }
}
