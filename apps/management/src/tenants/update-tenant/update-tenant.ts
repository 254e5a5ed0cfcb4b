import { notFound, updateTenant, type ManagementContext, type Tenant } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantHost } from '../directory/hosts.js';
import { TenantDirectory } from '../directory/tenant-directory.js';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantChanges } from '../tenant-changes/tenant-changes.js';
import { requireMember, updateTenant as decide } from '../tenant/tenant.decisions.js';
import { tenantView } from '../tenant/tenant-view.js';

@Operation(updateTenant)
export class UpdateTenant {
  constructor(
    private readonly directory: TenantDirectory,
    private readonly changes: TenantChanges,
  ) {}

  async execute(request: RequestOf<typeof updateTenant>, context: ManagementContext): Promise<Tenant> {
    const { tenantId } = request.params;
    const caller = tenantCaller(context, updateTenant);
    const state = await this.changes.decide(updateTenant, tenantId, context, (current, caller) =>
      decide(current, { ...request.body, caller }),
    );
    const seen = requireMember(state, caller);
    const environment = this.directory.environment(seen.tenant.environmentId);
    if (!environment) throw notFound();
    return tenantView(seen.tenant, tenantHost(seen.tenant.subdomain, environment), environment, seen.roles);
  }
}
