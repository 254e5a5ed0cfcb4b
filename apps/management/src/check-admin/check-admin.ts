import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { managementCaller } from '../management-caller.js';
import { seenByAdmin } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';

export class CheckAdmin {
  constructor(
    readonly request: { params: { tenantId: string } },
    readonly context: OperationContext,
  ) {}
}

/** Whether the caller may still administer the tenant: a first result is not told again to who may not. */
@QueryHandler(CheckAdmin)
export class CheckAdminHandler implements IQueryHandler<CheckAdmin> {
  constructor(private readonly streams: Streams) {}

  async execute({ request, context }: CheckAdmin): Promise<void> {
    const { state } = await this.streams.load(tenant, tenantStream(request.params.tenantId));
    seenByAdmin(state, managementCaller(context));
  }
}
