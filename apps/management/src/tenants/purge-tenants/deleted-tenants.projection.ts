import { readEvent } from '@attestry/event-store';
import { insertRows, createTable, type Projection } from '@attestry/read-model';
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
    await createTable(db, 'deleted_tenant', {
      text: ['id', 'deleted_at'],
      primaryKey: ['id'],
      indexes: { deleted_tenant_due: ['deleted_at', 'id'] },
    });
  },
  async project(trx, events) {
    for (const stored of events) {
      const event = readEvent(tenant, stored);
      if (event.type === 'TenantDeleted')
        await insertRows(trx, 'deleted_tenant', [{ id: event.data.tenantId, deleted_at: stored.metadata.occurredAt }]);
      else if (event.type === 'TenantPurged')
        await trx.deleteFrom('deleted_tenant').where('id', '=', event.data.tenantId).execute();
    }
  },
};
