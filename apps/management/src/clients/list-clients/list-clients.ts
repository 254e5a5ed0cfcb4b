import { listClients, type TenantClient, type ManagementContext, type PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantCaller } from '../../tenants/caller/management-caller.js';
import { loadTenant } from '../../tenants/tenant/load-tenant.js';
import { TenantListsReadModel } from '../../tenants/tenant-lists/tenant-lists.read-model.js';
import { clientView } from '../client-view/client-view.js';

/** The tenant's stream decides about access, so that a deleted tenant's clients disappear at once. */
@Operation(listClients)
export class ListClients {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof listClients>, context: ManagementContext): Promise<PageOf<TenantClient>> {
    const { id } = await loadTenant(this.streams, request.params.tenantId, tenantCaller(context, listClients));
    const listed = await this.lists.clientsOf(id, request.query);
    return {
      ...listed,
      data: listed.data.map(({ id: clientId, ...client }) => clientView(clientId, client)),
    };
  }
}
