import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { MembershipUpdate, OperationContext, updateMembership as operation } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { updateMembership } from '../tenant/membership.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class UpdateMembership {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(UpdateMembership)
export class UpdateMembershipHandler implements ICommandHandler<UpdateMembership> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: UpdateMembership): Promise<MembershipUpdate> {
    const { tenantId, userId } = request.params;
    const { roles } = request.body;
    const caller = managementCaller(context);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => updateMembership(state, { caller, userId, roles }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    return { userId, tenantId, roles };
  }
}
