import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Client, OperationContext, retrieveClient } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { clientView } from '../tenant/client-view.js';
import { seenClient } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class RetrieveClient {
  constructor(
    readonly request: RequestOf<typeof retrieveClient>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveClient)
export class RetrieveClientHandler implements IQueryHandler<RetrieveClient> {
  constructor(private readonly streams: Streams) {}

  async execute({ request, context }: RetrieveClient): Promise<Client> {
    const { tenantId, clientId } = request.params;
    const { state } = await this.streams.load(tenant, tenantStream(tenantId));
    return clientView(clientId, seenClient(state, managementCaller(context), clientId));
  }
}
