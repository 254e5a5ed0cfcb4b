import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { cancelInvitation as operation, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { cancelInvitation } from '../tenant/membership.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class CancelInvitation {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** Of cancelling and accepting in the same moment one wins: both stand in the tenant's stream. */
@CommandHandler(CancelInvitation)
export class CancelInvitationHandler implements ICommandHandler<CancelInvitation> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: CancelInvitation): Promise<void> {
    const { tenantId, userId } = request.params;
    const caller = managementCaller(context);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => cancelInvitation(state, { caller, userId }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
