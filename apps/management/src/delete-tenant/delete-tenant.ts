import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { deleteTenant as operation, OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, type RequestOf } from '@attestry/service-kit';
import { managementCaller } from '../management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { deleteTenant } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class DeleteTenant {
  constructor(
    readonly request: RequestOf<typeof operation>,
    readonly context: OperationContext,
  ) {}
}

/** A soft delete: hosts and tokens end at once, the subdomain stays claimed. */
@CommandHandler(DeleteTenant)
export class DeleteTenantHandler implements ICommandHandler<DeleteTenant> {
  constructor(
    private readonly streams: Streams,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute({ request, context }: DeleteTenant): Promise<void> {
    const { tenantId } = request.params;
    const caller = managementCaller(context);
    const { position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (state) => deleteTenant(state, { caller }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
  }
}
