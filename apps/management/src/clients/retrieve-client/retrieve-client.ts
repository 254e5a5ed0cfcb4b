import { retrieveClient, type TenantClient, type ManagementContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { clientView } from '../client-view/client-view.js';
import { requireClient } from '../../tenants/tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../../tenants/tenant/tenant.state.js';

@Operation(retrieveClient)
export class RetrieveClient {
  constructor(private readonly streams: Streams) {}

  async execute(request: RequestOf<typeof retrieveClient>, context: ManagementContext): Promise<TenantClient> {
    const { tenantId, clientId } = request.params;
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    return clientView(clientId, requireClient(state, tenantCaller(context, retrieveClient), clientId));
  }
}
