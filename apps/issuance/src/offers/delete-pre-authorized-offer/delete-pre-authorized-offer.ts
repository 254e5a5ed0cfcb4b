import { Inject } from '@nestjs/common';
import { deletePreAuthorizedOffer, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { deleteOffer } from '../../sessions/issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../../sessions/issuance-session/issuance-session.state.js';

@Operation(deletePreAuthorizedOffer)
export class DeletePreAuthorizedOffer {
  constructor(
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(request: RequestOf<typeof deletePreAuthorizedOffer>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const offerId = request.params.id;
    const now = this.clock.now();
    await this.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(tenantId, offerId),
      (state) => deleteOffer(state, now),
      eventContext(context),
    );
    // After a crash here, the sweep of ended sessions destroys it.
    await this.sealing.destroyDataKeys(tenantId, [offerId]);
  }
}
