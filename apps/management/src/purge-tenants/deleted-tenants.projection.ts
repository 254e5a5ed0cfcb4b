import { readEvent } from '@attestry/event-store';
import type { Projection } from '@attestry/read-model';
import { tenant } from '../tenant/tenant.state.js';

export interface DeletedTenantTables {
  deleted_tenant: { id: string; deleted_at: string };
}

/** Deleted tenants that are not purged yet. */
export const deletedTenants: Projection<DeletedTenantTables> = {
  name: 'management.deleted-tenants',
  version: 1,
  categories: [tenant.category],
  types: Object.keys(tenant.types),
  tables: ['deleted_tenant'],
  async create(db) {
    await db.schema
      .createTable('deleted_tenant')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('deleted_at', 'text', (c) => c.notNull())
      .execute();
    await db.schema.createIndex('deleted_tenant_due').on('deleted_tenant').columns(['deleted_at', 'id']).execute();
  },
  async project(trx, events) {
    for (const stored of events) {
      const event = readEvent(tenant, stored);
      if (event.type === 'TenantDeleted')
        await trx
          .insertInto('deleted_tenant')
          .values({ id: event.data.tenantId, deleted_at: stored.metadata.occurredAt })
          .onConflict((conflict) => conflict.doNothing())
          .execute();
      else if (event.type === 'TenantPurged')
        await trx.deleteFrom('deleted_tenant').where('id', '=', event.data.tenantId).execute();
    }
  },
};
