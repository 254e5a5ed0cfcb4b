import { deleteMembership, type ManagementContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { removeMember } from '../../tenants/tenant/membership.decisions.js';

/** Roles are read from the tenant's stream at every call, so that the removal takes effect with the next one. */
@Operation(deleteMembership)
export class DeleteMembership {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof deleteMembership>, context: ManagementContext): Promise<void> {
    const { tenantId, userId } = request.params;
    await this.changes.decide(deleteMembership, tenantId, context, (state, caller) =>
      removeMember(state, { caller, userId }),
    );
  }
}
