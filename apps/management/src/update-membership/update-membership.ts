import { updateMembership, type ManagementContext, type MembershipUpdate } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { updateMembership as decide } from '../tenant/membership.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

@Operation(updateMembership)
export class UpdateMembership {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof updateMembership>, context: ManagementContext): Promise<MembershipUpdate> {
    const { tenantId, userId } = request.params;
    const { roles } = request.body;
    const caller = tenantCaller(context, updateMembership);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller, userId, roles }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    return { userId, tenantId, roles };
  }
}
