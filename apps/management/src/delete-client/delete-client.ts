import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { deleteClient as operation, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { deleteClient } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class DeleteClient {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

@CommandHandler(DeleteClient)
export class DeleteClientHandler implements ICommandHandler<DeleteClient> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: DeleteClient): Promise<void> {
    const { tenantId } = request.params;
    const caller = managementCaller(context);
    const { clientId } = request.params;
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => deleteClient(state, { caller, clientId }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
