import { deleteMembership, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { removeMember } from '../tenant/membership.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** Roles are read from the tenant's stream at every call, so that the removal takes effect with the next one. */
@Operation(deleteMembership)
export class DeleteMembership {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof deleteMembership>, context: ManagementContext): Promise<void> {
    const { tenantId, userId } = request.params;
    const caller = tenantCaller(context, deleteMembership);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => removeMember(state, { caller, userId }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
