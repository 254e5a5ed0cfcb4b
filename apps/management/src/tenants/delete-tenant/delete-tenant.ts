import { deleteTenant, type ManagementContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../tenant-changes/tenant-changes.js';
import { deleteTenant as decide } from '../tenant/tenant.decisions.js';

/** A soft delete: hosts and tokens end at once, the subdomain stays claimed. */
@Operation(deleteTenant)
export class DeleteTenant {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof deleteTenant>, context: ManagementContext): Promise<void> {
    const { tenantId } = request.params;
    await this.changes.decide(deleteTenant, tenantId, context, (state, caller) => decide(state, { caller }));
  }
}
