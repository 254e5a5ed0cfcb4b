import { deleteClient, type ManagementContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { deleteClient as decide } from '../../tenants/tenant/tenant.decisions.js';

@Operation(deleteClient)
export class DeleteClient {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof deleteClient>, context: ManagementContext): Promise<void> {
    const { tenantId, clientId } = request.params;
    await this.changes.decide(deleteClient, tenantId, context, (state, caller) => decide(state, { caller, clientId }));
  }
}
