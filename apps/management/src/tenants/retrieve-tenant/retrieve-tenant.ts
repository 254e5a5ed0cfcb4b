import { notFound, retrieveTenant, type ManagementContext, type Tenant } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { tenantHost } from '../directory/hosts.js';
import { TenantDirectory } from '../directory/tenant-directory.js';
import { tenantCaller } from '../caller/management-caller.js';
import { requireMember } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { tenantView } from '../tenant/tenant-view.js';

@Operation(retrieveTenant)
export class RetrieveTenant {
  constructor(
    private readonly streams: Streams,
    private readonly directory: TenantDirectory,
  ) {}

  async execute(request: RequestOf<typeof retrieveTenant>, context: ManagementContext): Promise<Tenant> {
    const { state } = await this.streams.load(tenant, tenantStream(request.params.tenantId));
    const seen = requireMember(state, tenantCaller(context, retrieveTenant));
    const environment = this.directory.environment(seen.tenant.environmentId);
    if (!environment) throw notFound();
    return tenantView(seen.tenant, tenantHost(seen.tenant.subdomain, environment), environment, seen.roles);
  }
}
