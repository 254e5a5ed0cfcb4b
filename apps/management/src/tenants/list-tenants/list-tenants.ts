import { listTenants, type ManagementContext, type PageOf, type Tenant } from '@attestry/contracts';
import { Operation, PlatformConfig, type RequestOf } from '@attestry/service-kit';
import { tenantHost } from '../directory/hosts.js';
import { TenantDirectory } from '../directory/tenant-directory.js';
import { managementCaller } from '../caller/management-caller.js';
import { TenantListsReadModel } from '../tenant-lists/tenant-lists.read-model.js';
import { tenantView } from '../tenant/tenant-view.js';

/** The caller's own tenants, oldest first. */
@Operation(listTenants)
export class ListTenants {
  constructor(
    private readonly lists: TenantListsReadModel,
    private readonly config: PlatformConfig,
    private readonly directory: TenantDirectory,
  ) {}

  async execute(request: RequestOf<typeof listTenants>, context: ManagementContext): Promise<PageOf<Tenant>> {
    const environmentIds = this.config.environments.map(({ id }) => id);
    const listed = await this.lists.tenantsOf(managementCaller(context), environmentIds, request.query);
    return {
      ...listed,
      data: listed.data.flatMap(({ roles, subdomain, environmentId, ...tenant }) => {
        const environment = this.directory.environment(environmentId);
        return environment ? [tenantView(tenant, tenantHost(subdomain, environment), environment, roles)] : [];
      }),
    };
  }
}
