import type { RecordedEvent } from '@attestry/event-store';
import { readEvent } from '@attestry/event-store';
import type { Projection } from '@attestry/read-model';
import type { Transaction } from 'kysely';
import type { TenantEvent } from '../tenant/tenant.events.js';
import { tenant } from '../tenant/tenant.state.js';

export interface TenantListTables {
  tenant: { id: string; environment_id: string; name: string; subdomain: string; created_at: string };
  /** `roles` is JSON. */
  membership: { tenant_id: string; management_client_id: string; roles: string };
  tenant_client: { id: string; tenant_id: string; name: string; roles: string; created_at: string };
}

/** Living tenants, who may see them, and their clients: what the list operations page through. */
export const tenantLists: Projection<TenantListTables> = {
  name: 'management.tenant-lists',
  version: 1,
  categories: [tenant.category],
  types: Object.keys(tenant.types),
  tables: ['tenant', 'membership', 'tenant_client'],
  async create(db) {
    await db.schema
      .createTable('tenant')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('environment_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('subdomain', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema
      .createTable('membership')
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('management_client_id', 'text', (c) => c.notNull())
      .addColumn('roles', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('membership_pk', ['management_client_id', 'tenant_id'])
      .execute();
    await db.schema
      .createTable('tenant_client')
      .addColumn('id', 'text', (c) => c.notNull())
      .addColumn('tenant_id', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addColumn('roles', 'text', (c) => c.notNull())
      .addColumn('created_at', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('tenant_client_pk', ['tenant_id', 'id'])
      .execute();
  },
  async project(trx, events) {
    for (const stored of events) await projectOne(trx, stored);
  },
};

const projectOne = async (trx: Transaction<TenantListTables>, stored: RecordedEvent): Promise<void> => {
  const event: TenantEvent = readEvent(tenant, stored);
  switch (event.type) {
    case 'TenantCreated': {
      const { tenantId, environmentId, name, subdomain, createdAt } = event.data;
      await trx
        .insertInto('tenant')
        .values({ id: tenantId, environment_id: environmentId, name, subdomain, created_at: createdAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return;
    }
    case 'MachineMembershipGranted': {
      const { tenantId, managementClientId, roles } = event.data;
      const granted = JSON.stringify(roles);
      await trx
        .insertInto('membership')
        .values({ tenant_id: tenantId, management_client_id: managementClientId, roles: granted })
        .onConflict((conflict) =>
          conflict.columns(['management_client_id', 'tenant_id']).doUpdateSet({ roles: granted }),
        )
        .execute();
      return;
    }
    case 'TenantClientCreated': {
      const { tenantId, clientId, name, roles, createdAt } = event.data;
      await trx
        .insertInto('tenant_client')
        .values({ id: clientId, tenant_id: tenantId, name, roles: JSON.stringify(roles), created_at: createdAt })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return;
    }
    case 'TenantClientDeleted': {
      const { tenantId, clientId } = event.data;
      await trx.deleteFrom('tenant_client').where('tenant_id', '=', tenantId).where('id', '=', clientId).execute();
      return;
    }
    case 'TenantDeleted': {
      const { tenantId } = event.data;
      await trx.deleteFrom('tenant_client').where('tenant_id', '=', tenantId).execute();
      await trx.deleteFrom('membership').where('tenant_id', '=', tenantId).execute();
      await trx.deleteFrom('tenant').where('id', '=', tenantId).execute();
      return;
    }
  }
};
