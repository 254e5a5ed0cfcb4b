import { declareTables, defineProjection, nothing } from '@attestry/read-model';
import { tenant } from '../tenant/tenant.state.js';

export interface DeletedTenantTables {
  deleted_tenant: { id: string; deleted_at: string };
}

const tables = declareTables<DeletedTenantTables>({
  deleted_tenant: {
    text: ['id', 'deleted_at'],
    primaryKey: ['id'],
    indexes: { deleted_tenant_due: ['deleted_at', 'id'] },
  },
});
const { deleted_tenant: tenants } = tables;

/** Deleted tenants that are not purged yet. */
export const deletedTenants = defineProjection({
  name: 'management.deleted-tenants',
  version: 1,
  aggregates: [tenant],
  tables,
  outlivesTenant: true,
  on: {
    TenantDeleted: ({ data }, { occurredAt }) => tenants.insert({ id: data.tenantId, deleted_at: occurredAt }),
    TenantPurged: ({ data }) => tenants.remove({ id: data.tenantId }),
    TenantCreated: nothing,
    TenantRenamed: nothing,
    TenantIdentityRolesRestrictionChanged: nothing,
    MachineMembershipGranted: nothing,
    MemberAdded: nothing,
    MemberInvited: nothing,
    InvitationAccepted: nothing,
    InvitationCancelled: nothing,
    MemberRolesChanged: nothing,
    MemberRemoved: nothing,
    TenantClientCreated: nothing,
    TenantClientRenamed: nothing,
    TenantClientRolesChanged: nothing,
    TenantClientSecretRotated: nothing,
    TenantClientDeleted: nothing,
  },
});
