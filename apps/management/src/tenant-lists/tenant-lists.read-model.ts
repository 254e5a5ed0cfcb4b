import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PageOf, PageQuery, Role } from '@attestry/contracts';
import { KeyVault } from '@attestry/keys';
import { ReadModels, type RunningProjection } from '@attestry/read-model';
import { Health, listPage, startProjection } from '@attestry/service-kit';
import { tenantLists, type TenantListTables } from './tenant-lists.projection.js';

/** How long a write waits for its own projection (decision 29), milliseconds. */
const OWN_WRITE_MS = 250;

export interface ListedTenant {
  id: string;
  environmentId: string;
  name: string;
  subdomain: string;
  roles: Role[];
}
export interface ListedClient {
  id: string;
  name: string;
  roles: Role[];
}

@Injectable()
export class TenantListsReadModel implements OnModuleInit {
  running!: RunningProjection<TenantListTables>;

  constructor(
    private readonly readModels: ReadModels,
    private readonly health: Health,
    private readonly vault: KeyVault,
  ) {}

  async onModuleInit(): Promise<void> {
    this.running = await startProjection(this.readModels, this.health, tenantLists);
  }

  /** Called by writes whose list a caller would look at next. */
  async settled(position: string | undefined): Promise<void> {
    await this.running.waitFor(position, OWN_WRITE_MS);
  }

  /** The living tenants of some environments in which a management client is a member, oldest first. */
  async tenantsOf(
    managementClientId: string,
    environmentIds: readonly string[],
    request: PageQuery,
  ): Promise<PageOf<ListedTenant>> {
    const query = this.running.db
      .selectFrom('tenant')
      .innerJoin('membership', 'membership.tenant_id', 'tenant.id')
      .where('membership.management_client_id', '=', managementClientId)
      .where('tenant.environment_id', 'in', environmentIds)
      .select([
        'tenant.id as id',
        'tenant.environment_id as environment_id',
        'tenant.name as name',
        'tenant.subdomain as subdomain',
        'tenant.created_at as created_at',
        'membership.roles as roles',
      ]);
    const rows = await listPage(query, request, this.vault, ['management', 'tenants', managementClientId], {
      timeColumn: 'tenant.created_at',
      idColumn: 'tenant.id',
    });
    return {
      ...rows,
      data: rows.data.map(({ id, environment_id: environmentId, name, subdomain, roles }) => ({
        id,
        environmentId,
        name,
        subdomain,
        roles: JSON.parse(roles) as Role[],
      })),
    };
  }

  /** The clients of a tenant, oldest first. */
  async clientsOf(tenantId: string, request: PageQuery): Promise<PageOf<ListedClient>> {
    const query = this.running.db
      .selectFrom('tenant_client')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'name', 'roles', 'created_at']);
    const rows = await listPage(query, request, this.vault, ['management', 'clients', tenantId]);
    return {
      ...rows,
      data: rows.data.map(({ id, name, roles }) => ({ id, name, roles: JSON.parse(roles) as Role[] })),
    };
  }
}
