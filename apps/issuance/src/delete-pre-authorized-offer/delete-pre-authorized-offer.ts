import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { deletePreAuthorizedOffer, OperationContext } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import { KeyVault } from '@attestry/keys';
import { CLOCK, eventContext, tenantOf, type RequestOf } from '@attestry/service-kit';
import { deleteOffer } from '../issuance-session/issuance-session.decisions.js';
import { issuanceSession, issuanceSessionStream } from '../issuance-session/issuance-session.state.js';

export class DeletePreAuthorizedOffer {
  constructor(
    readonly request: RequestOf<typeof deletePreAuthorizedOffer>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(DeletePreAuthorizedOffer)
export class DeletePreAuthorizedOfferHandler implements ICommandHandler<DeletePreAuthorizedOffer> {
  constructor(
    private readonly streams: Streams,
    private readonly vault: KeyVault,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ request, context }: DeletePreAuthorizedOffer): Promise<void> {
    const { id: tenantId } = tenantOf(context);
    const offerId = request.params.id;
    const now = this.clock.now();
    await this.streams.runDecision(
      issuanceSession,
      issuanceSessionStream(tenantId, offerId),
      (state) => deleteOffer(state, now),
      eventContext(context),
    );
    // Should the process end here, the sweep of ended sessions does it.
    await this.vault.destroy(tenantId, [offerId]);
  }
}
