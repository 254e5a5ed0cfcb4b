import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Client, listClients, OperationContext, PageOf } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { clientView } from '../tenant/client-view.js';
import { seenByAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class ListClients {
  constructor(
    readonly request: RequestOf<typeof listClients>,
    readonly context: OperationContext,
  ) {}
}

/** Who may see the list is decided from the tenant's stream, so that a deleted tenant's clients are gone at once. */
@QueryHandler(ListClients)
export class ListClientsHandler implements IQueryHandler<ListClients> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: ListClients): Promise<PageOf<Client>> {
    const { state } = await this.streams.load(tenant, tenantStream(request.params.tenantId));
    const { id } = seenByAdmin(state, managementCaller(context));
    const listed = await this.lists.clientsOf(id, request.query);
    return {
      ...listed,
      data: listed.data.map(({ id: clientId, ...client }) => clientView(clientId, client)),
    };
  }
}
