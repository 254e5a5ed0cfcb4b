import type { Role } from '@attestry/contracts';
import type { RecordedEvent } from '@attestry/event-store';
import { readEvent } from '@attestry/event-store';
import { insertRows, createTable, type Projection } from '@attestry/read-model';
import type { Transaction } from 'kysely';
import type { ManagementUserEvent } from '../../users/management-user/management-user.events.js';
import { managementUser } from '../../users/management-user/management-user.state.js';
import type { TenantEvent } from '../tenant/tenant.events.js';
import { tenant } from '../tenant/tenant.state.js';

export interface TenantListTables {
  tenant: {
    id: string;
    environment_id: string;
    name: string;
    subdomain: string;
    restrict_identity_roles: number;
    created_at: string;
  };
  /** `roles` is JSON. */
  membership: { tenant_id: string; management_client_id: string; roles: string };
  tenant_client: { id: string; tenant_id: string; name: string; roles: string; created_at: string };
  /** People in tenants. `roles` is JSON; only active members see the tenant. */
  member: { tenant_id: string; user_id: string; roles: string; is_active: number; created_at: string };
  person: { id: string; sealed_email: string | null; sealed_name: string | null };
}

/** Active tenants, the users who may see them, their clients and members: what the list operations page through. */
export const tenantLists: Projection<TenantListTables> = {
  name: 'management.tenant-lists',
  version: 3,
  categories: [tenant.category, managementUser.category],
  types: [...Object.keys(tenant.types), ...Object.keys(managementUser.types)],
  tables: ['tenant', 'membership', 'tenant_client', 'member', 'person'],
  async create(db) {
    await createTable(db, 'tenant', {
      text: ['id', 'environment_id', 'name', 'subdomain', 'created_at'],
      integer: ['restrict_identity_roles'],
      primaryKey: ['id'],
    });
    await createTable(db, 'membership', {
      text: ['tenant_id', 'management_client_id', 'roles'],
      primaryKey: ['management_client_id', 'tenant_id'],
    });
    await createTable(db, 'tenant_client', {
      text: ['id', 'tenant_id', 'name', 'roles', 'created_at'],
      primaryKey: ['tenant_id', 'id'],
      indexes: { tenant_client_by_id: ['id'] },
    });
    await createTable(db, 'member', {
      text: ['tenant_id', 'user_id', 'roles', 'created_at'],
      integer: ['is_active'],
      primaryKey: ['user_id', 'tenant_id'],
      indexes: { member_by_time: ['tenant_id', 'created_at', 'user_id'] },
    });
    await createTable(db, 'person', {
      text: ['id'],
      nullableText: ['sealed_email', 'sealed_name'],
      primaryKey: ['id'],
    });
  },
  async project(trx, events) {
    for (const stored of events)
      if (stored.stream.startsWith(`${managementUser.category}-`)) await projectPerson(trx, stored);
      else await projectOne(trx, stored);
  },
};

const projectOne = async (trx: Transaction<TenantListTables>, stored: RecordedEvent): Promise<void> => {
  const event: TenantEvent = readEvent(tenant, stored);
  switch (event.type) {
    case 'TenantCreated': {
      const { tenantId, environmentId, name, subdomain, createdAt } = event.data;
      await insertRows(trx, 'tenant', [
        {
          ...{ id: tenantId, environment_id: environmentId, name, subdomain, created_at: createdAt },
          restrict_identity_roles: 0,
        },
      ]);
      return;
    }
    case 'TenantRenamed': {
      const { tenantId, name } = event.data;
      await trx.updateTable('tenant').set({ name }).where('id', '=', tenantId).execute();
      return;
    }
    case 'TenantIdentityRolesRestrictionChanged': {
      const { tenantId, restrictIdentityRoles } = event.data;
      await trx
        .updateTable('tenant')
        .set({ restrict_identity_roles: restrictIdentityRoles ? 1 : 0 })
        .where('id', '=', tenantId)
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
    case 'MemberAdded': {
      const { tenantId, userId, roles, addedAt } = event.data;
      await putMember(trx, tenantId, userId, roles, true, addedAt);
      return;
    }
    case 'MemberInvited': {
      const { tenantId, userId, roles, invitedAt } = event.data;
      await putMember(trx, tenantId, userId, roles, false, invitedAt);
      return;
    }
    case 'InvitationAccepted': {
      const { tenantId, userId, acceptedBy, acceptedAt } = event.data;
      const invited = await trx
        .selectFrom('member')
        .select('roles')
        .where('tenant_id', '=', tenantId)
        .where('user_id', '=', userId)
        .executeTakeFirst();
      // Absent in a redelivered batch: then it is done.
      if (!invited) return;
      if (acceptedBy !== userId)
        await trx.deleteFrom('member').where('tenant_id', '=', tenantId).where('user_id', '=', userId).execute();
      await putMember(trx, tenantId, acceptedBy, JSON.parse(invited.roles) as Role[], true, acceptedAt);
      return;
    }
    case 'MemberRolesChanged': {
      const { tenantId, userId, roles } = event.data;
      await trx
        .updateTable('member')
        .set({ roles: JSON.stringify(roles) })
        .where('tenant_id', '=', tenantId)
        .where('user_id', '=', userId)
        .execute();
      return;
    }
    case 'InvitationCancelled':
    case 'MemberRemoved': {
      const { tenantId, userId } = event.data;
      await trx.deleteFrom('member').where('tenant_id', '=', tenantId).where('user_id', '=', userId).execute();
      return;
    }
    case 'TenantClientCreated': {
      const { tenantId, clientId, name, roles, createdAt } = event.data;
      await insertRows(trx, 'tenant_client', [
        { id: clientId, tenant_id: tenantId, name, roles: JSON.stringify(roles), created_at: createdAt },
      ]);
      return;
    }
    case 'TenantClientRenamed': {
      const { tenantId, clientId, name } = event.data;
      await changeClient(trx, tenantId, clientId, { name });
      return;
    }
    case 'TenantClientRolesChanged': {
      const { tenantId, clientId, roles } = event.data;
      await changeClient(trx, tenantId, clientId, { roles: JSON.stringify(roles) });
      return;
    }
    // Lists contain no secrets.
    case 'TenantClientSecretRotated':
      return;
    case 'TenantClientDeleted': {
      const { tenantId, clientId } = event.data;
      await trx.deleteFrom('tenant_client').where('tenant_id', '=', tenantId).where('id', '=', clientId).execute();
      return;
    }
    case 'TenantDeleted': {
      const { tenantId } = event.data;
      await trx.deleteFrom('tenant_client').where('tenant_id', '=', tenantId).execute();
      await trx.deleteFrom('membership').where('tenant_id', '=', tenantId).execute();
      await trx.deleteFrom('member').where('tenant_id', '=', tenantId).execute();
      await trx.deleteFrom('tenant').where('id', '=', tenantId).execute();
      return;
    }
    // All its rows are deleted.
    case 'TenantPurged':
      return;
  }
};

const changeClient = async (
  trx: Transaction<TenantListTables>,
  tenantId: string,
  clientId: string,
  values: { name?: string; roles?: string },
): Promise<void> => {
  await trx
    .updateTable('tenant_client')
    .set(values)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', clientId)
    .execute();
};

/** A member who is invited again, or added later, keeps the position in the list. */
const putMember = async (
  trx: Transaction<TenantListTables>,
  tenantId: string,
  userId: string,
  roles: Role[],
  active: boolean,
  at: string,
): Promise<void> => {
  const values = { roles: JSON.stringify(roles), is_active: active ? 1 : 0 };
  await trx
    .insertInto('member')
    .values({ tenant_id: tenantId, user_id: userId, created_at: at, ...values })
    .onConflict((conflict) => conflict.columns(['user_id', 'tenant_id']).doUpdateSet(values))
    .execute();
};

const projectPerson = async (trx: Transaction<TenantListTables>, stored: RecordedEvent): Promise<void> => {
  const event: ManagementUserEvent = readEvent(managementUser, stored);
  const set = async (id: string, values: Partial<Omit<TenantListTables['person'], 'id'>>) => {
    await trx
      .insertInto('person')
      .values({ id, sealed_email: null, sealed_name: null, ...values })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
      .execute();
  };
  const { userId } = event.data;
  switch (event.type) {
    case 'ManagementUserInvited':
      return set(userId, { sealed_email: event.data.sealedEmail });
    case 'ManagementUserRegistered': {
      const { sealedEmail, sealedName = null } = event.data;
      return set(userId, { sealed_name: sealedName, ...(sealedEmail !== undefined && { sealed_email: sealedEmail }) });
    }
    case 'ManagementUserEmailTaken':
      return set(userId, { sealed_email: event.data.sealedEmail });
    case 'ManagementUserNamed':
      return set(userId, { sealed_name: event.data.sealedName });
  }
};
