import { projected } from '@attestry/testing';
import { deletedTenants } from './deleted-tenants.projection.js';

const given = projected(deletedTenants);
const occurredAt = '2026-03-01T00:00:00.000Z';
const deleted = (tenantId: string) => ({ type: 'TenantDeleted', data: { tenantId }, of: { occurredAt } }) as const;

describe('deleted tenants', () => {
  it('are listed until they are purged', () => {
    given({ type: 'TenantCreated', data: { tenantId: 'c' } }, deleted('a'), deleted('b'), {
      type: 'TenantPurged',
      data: { tenantId: 'a' },
    }).expectRows({ deleted_tenant: [{ id: 'b', deleted_at: occurredAt }] });
  });
});
