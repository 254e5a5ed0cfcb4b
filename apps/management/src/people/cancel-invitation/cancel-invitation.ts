import { cancelInvitation, type ManagementContext } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantChanges } from '../../tenants/tenant-changes/tenant-changes.js';
import { cancelInvitation as decide } from '../../tenants/tenant/membership.decisions.js';

/** Only one of a concurrent cancellation and acceptance succeeds: both are in the tenant's stream. */
@Operation(cancelInvitation)
export class CancelInvitation {
  constructor(private readonly changes: TenantChanges) {}

  async execute(request: RequestOf<typeof cancelInvitation>, context: ManagementContext): Promise<void> {
    const { tenantId, userId } = request.params;
    await this.changes.decide(cancelInvitation, tenantId, context, (state, caller) =>
      decide(state, { caller, userId }),
    );
  }
}
