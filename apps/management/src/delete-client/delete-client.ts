import { deleteClient, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { deleteClient as decide } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

@Operation(deleteClient)
export class DeleteClient {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof deleteClient>, context: ManagementContext): Promise<void> {
    const { tenantId } = request.params;
    const caller = tenantCaller(context, deleteClient);
    const { clientId } = request.params;
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller, clientId }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
