import { listClients, type Client, type ManagementContext, type PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { loadAdministeredTenant } from '../tenant/administered-tenant.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { clientView } from '../tenant/client-view.js';

/** The tenant's stream decides about access, so that a deleted tenant's clients disappear at once. */
@Operation(listClients)
export class ListClients {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof listClients>, context: ManagementContext): Promise<PageOf<Client>> {
    const { id } = await loadAdministeredTenant(this.streams, request.params.tenantId, context);
    const listed = await this.lists.clientsOf(id, request.query);
    return {
      ...listed,
      data: listed.data.map(({ id: clientId, ...client }) => clientView(clientId, client)),
    };
  }
}
