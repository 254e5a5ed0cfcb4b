import { updateMembership, type ManagementContext, type MembershipUpdate } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { updateMembership as decide } from '../../tenants/tenant/membership.decisions.js';

@Operation(updateMembership)
export class UpdateMembership {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof updateMembership>, context: ManagementContext): Promise<MembershipUpdate> {
    const { tenantId, userId } = request.params;
    const { roles } = request.body;
    await this.changes.decide(updateMembership, tenantId, context, (state, caller) =>
      decide(state, { caller, userId, roles }),
    );
    return { userId, tenantId, roles };
  }
}
