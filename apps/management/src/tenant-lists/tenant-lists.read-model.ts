import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { PageOf, PageQuery, Role } from '@attestry/contracts';
import { page, ReadModels, type RunningProjection } from '@attestry/read-model';
import { Health } from '@attestry/service-kit';
import { DEFAULT_LIMIT, ListCursors } from './list-cursors.js';
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
    private readonly cursors: ListCursors,
  ) {}

  async onModuleInit(): Promise<void> {
    this.running = await this.readModels.start(tenantLists);
    this.health.register(tenantLists.name, () => {
      const { name, healthy, caughtUp, error } = this.running.health;
      return [{ name, healthy, starting: !caughtUp, ...(error !== undefined && { error }) }];
    });
  }

  /** Called by writes whose list a caller would look at next. */
  async settled(position: string | undefined): Promise<void> {
    await this.running.waitFor(position, OWN_WRITE_MS);
  }

  /** The living tenants of some environments in which a management client is a member, oldest first. */
  async tenantsOf(
    managementClientId: string,
    environmentIds: readonly string[],
    { limit = DEFAULT_LIMIT, cursor }: PageQuery,
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
    const codec = this.cursors.codec('tenants', managementClientId);
    const { data, nextCursor } = await this.cursors.read(() =>
      page(query, {
        limit,
        codec,
        timeColumn: 'tenant.created_at',
        idColumn: 'tenant.id',
        ...(cursor !== undefined && { cursor }),
      }),
    );
    return {
      data: data.map(({ id, environment_id: environmentId, name, subdomain, roles }) => ({
        id,
        environmentId,
        name,
        subdomain,
        roles: JSON.parse(roles) as Role[],
      })),
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }

  /** The clients of a tenant, oldest first. */
  async clientsOf(tenantId: string, { limit = DEFAULT_LIMIT, cursor }: PageQuery): Promise<PageOf<ListedClient>> {
    const query = this.running.db
      .selectFrom('tenant_client')
      .where('tenant_id', '=', tenantId)
      .select(['id', 'name', 'roles', 'created_at']);
    const codec = this.cursors.codec('clients', tenantId);
    const { data, nextCursor } = await this.cursors.read(() =>
      page(query, { limit, codec, ...(cursor !== undefined && { cursor }) }),
    );
    return {
      data: data.map(({ id, name, roles }) => ({ id, name, roles: JSON.parse(roles) as Role[] })),
      ...(nextCursor !== undefined && { nextCursor }),
    };
  }
}
