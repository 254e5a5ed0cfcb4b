import { cancelInvitation, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { cancelInvitation as decide } from '../tenant/membership.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** Of a concurrent cancellation and acceptance one succeeds: both are in the tenant's stream. */
@Operation(cancelInvitation)
export class CancelInvitation {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof cancelInvitation>, context: ManagementContext): Promise<void> {
    const { tenantId, userId } = request.params;
    const caller = tenantCaller(context, cancelInvitation);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller, userId }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
