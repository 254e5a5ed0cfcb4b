import { updateClient, type Client, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { clientView } from '../tenant/client-view.js';
import { updateClient as decide } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

@Operation(updateClient)
export class UpdateClient {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof updateClient>, context: ManagementContext): Promise<Client> {
    const { tenantId, clientId } = request.params;
    const { name, roles } = request.body;
    const caller = tenantCaller(context, updateClient);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => decide(state, { caller, clientId, name, roles }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    return clientView(clientId, { name, roles });
  }
}
