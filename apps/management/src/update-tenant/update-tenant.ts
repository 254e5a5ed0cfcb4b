import { notFound, updateTenant, type ManagementContext, type Tenant } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import { eventContext, Operation, type RequestOf } from '@attestry/service-kit';
import { tenantHost } from '../directory/hosts.js';
import { TenantDirectory } from '../directory/tenant-directory.js';
import { tenantCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { requireMember, updateTenant as decide } from '../tenant/tenant.decisions.js';
import { tenant, tenantStream } from '../tenant/tenant.state.js';
import { tenantView } from '../tenant/tenant-view.js';

@Operation(updateTenant)
export class UpdateTenant {
  constructor(
    private readonly streams: Streams,
    private readonly directory: TenantDirectory,
    private readonly lists: TenantListsReadModel,
  ) {}

  async execute(request: RequestOf<typeof updateTenant>, context: ManagementContext): Promise<Tenant> {
    const { tenantId } = request.params;
    const caller = tenantCaller(context, updateTenant);
    const { state, position } = await this.streams.runDecision(
      tenant,
      tenantStream(tenantId),
      (current) => decide(current, { ...request.body, caller }),
      eventContext(context, tenantId),
    );
    await this.lists.settled(position);
    const seen = requireMember(state, caller);
    const environment = this.directory.environment(seen.tenant.environmentId);
    if (!environment) throw notFound();
    return tenantView(seen.tenant, tenantHost(seen.tenant.subdomain, environment), environment, seen.roles);
  }
}
