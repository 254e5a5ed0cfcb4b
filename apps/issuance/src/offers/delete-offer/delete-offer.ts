import { Inject } from '@nestjs/common';
import { deleteOffer, type ClientContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { CLOCK, eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { deleteAuthorizationOffer } from '../../sessions/authorization-offer/authorization-offer.decisions.js';
import {
  authorizationOffer,
  authorizationOfferStream,
} from '../../sessions/authorization-offer/authorization-offer.state.js';

@Operation(deleteOffer)
export class DeleteOffer {
  constructor(
    private readonly streams: Streams,
    private readonly sealing: Sealing,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ params }: RequestOf<typeof deleteOffer>, context: ClientContext): Promise<void> {
    const { id: tenantId } = context.tenant;
    const now = this.clock.now();
    await this.streams.runDecision(
      authorizationOffer,
      authorizationOfferStream(tenantId, params.id),
      (state) => deleteAuthorizationOffer(state, now),
      eventContext(context),
    );
    // After a crash here, the sweep of ended sessions destroys it.
    await this.sealing.destroyDataKeys(tenantId, [params.id]);
  }
}
