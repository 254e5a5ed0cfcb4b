import { deleteTenant, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { deleteTenant as decide } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

/** A soft delete: hosts and tokens end at once, the subdomain stays claimed. */
@Operation(deleteTenant)
export class DeleteTenant {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof deleteTenant>, context: ManagementContext): Promise<void> {
    const { tenantId } = request.params;
    const caller = tenantCaller(context, deleteTenant);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
