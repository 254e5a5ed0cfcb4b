import { Inject } from '@nestjs/common';
import { denyDeferredIssuance, notFound, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { DeferredIssuancesReadModel } from '../deferred-issuance/deferred-issuances.read-model.js';
import { denyDeferral } from '../issuance-session/deferred-issuance.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';

@Operation(denyDeferredIssuance)
export class DenyDeferredIssuance {
  constructor(
    private readonly streams: Streams,
    private readonly deferred: DeferredIssuancesReadModel,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params }: RequestOf<typeof denyDeferredIssuance>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const now = this.clock.now();
    const sessionId = await this.deferred.findSession(tenantId, params.id, now);
    if (sessionId === undefined) throw notFound();
    const { position } = await this.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(tenantId, sessionId),
      (state) => denyDeferral(state, params.id, now),
      eventContext(context),
    );
    await this.deferred.settled(position);
  }
}
