import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Client, OperationContext, updateClient as operation } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { clientView } from '../tenant/client-view.js';
import { updateClient } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class UpdateClient {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** The gateway uses the roles in its directory, which receives the change, not those in a token (ADR 0034). */
@CommandHandler(UpdateClient)
export class UpdateClientHandler implements ICommandHandler<UpdateClient> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: UpdateClient): Promise<Client> {
    const { tenantId, clientId } = request.params;
    const { name, roles } = request.body;
    const caller = managementCaller(context);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => updateClient(state, { caller, clientId, name, roles }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    return clientView(clientId, { name, roles });
  }
}
