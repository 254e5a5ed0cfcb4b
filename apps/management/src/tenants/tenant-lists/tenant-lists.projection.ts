import { declareTables, defineProjection, nothing } from '@attestry/read-model';
import { managementUser } from '../../users/management-user/management-user.state.js';
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

const tables = declareTables<TenantListTables>({
  tenant: {
    text: ['id', 'environment_id', 'name', 'subdomain', 'created_at'],
    integer: ['restrict_identity_roles'],
    primaryKey: ['id'],
  },
  membership: {
    text: ['tenant_id', 'management_client_id', 'roles'],
    primaryKey: ['management_client_id', 'tenant_id'],
  },
  tenant_client: {
    text: ['id', 'tenant_id', 'name', 'roles', 'created_at'],
    primaryKey: ['tenant_id', 'id'],
    indexes: { tenant_client_by_id: ['id'] },
  },
  member: {
    text: ['tenant_id', 'user_id', 'roles', 'created_at'],
    integer: ['is_active'],
    primaryKey: ['user_id', 'tenant_id'],
    indexes: { member_by_time: ['tenant_id', 'created_at', 'user_id'] },
  },
  person: {
    text: ['id'],
    nullableText: ['sealed_email', 'sealed_name'],
    primaryKey: ['id'],
  },
});
const { tenant: tenants, membership: memberships, tenant_client: clients, member: members, person: persons } = tables;

const setTenant = ({ tenantId }: { tenantId: string }, values: Partial<TenantListTables['tenant']>) =>
  tenants.set({ id: tenantId }, values);
const setClient = (
  { tenantId, clientId }: { tenantId: string; clientId: string },
  values: Partial<TenantListTables['tenant_client']>,
) => clients.set({ tenant_id: tenantId, id: clientId }, values);

type Member = Pick<TenantListTables['member'], 'tenant_id' | 'user_id'>;
const memberOf = ({ tenantId, userId }: { tenantId: string; userId: string }): Member => ({
  user_id: userId,
  tenant_id: tenantId,
});
/** A member who is invited again, or added later, keeps the position in the list. */
const putMember = (member: Member, roles: string, is_active: 0 | 1, created_at: string) => [
  members.insert({ ...member, roles, is_active, created_at }),
  members.set(member, { roles, is_active }),
];
const removeMember = ({ data }: { data: { tenantId: string; userId: string } }) => members.remove(memberOf(data));

const setPerson = (id: string, values: Partial<Omit<TenantListTables['person'], 'id'>>) => [
  persons.insert({ id, sealed_email: null, sealed_name: null }),
  persons.set({ id }, values),
];

/** Active tenants, the users who may see them, their clients and members: what the list operations page through. */
export const tenantLists = defineProjection({
  name: 'management.tenant-lists',
  version: 3,
  aggregates: [tenant, managementUser],
  tables,
  // The rows of a tenant are removed when it is deleted; people outlive it.
  outlivesTenant: true,
  on: {
    TenantCreated: ({ data: { tenantId, environmentId, name, subdomain, createdAt } }) =>
      tenants.insert({
        id: tenantId,
        environment_id: environmentId,
        name,
        subdomain,
        restrict_identity_roles: 0,
        created_at: createdAt,
      }),
    TenantRenamed: ({ data }) => setTenant(data, { name: data.name }),
    TenantIdentityRolesRestrictionChanged: ({ data }) =>
      setTenant(data, { restrict_identity_roles: data.restrictIdentityRoles ? 1 : 0 }),
    MachineMembershipGranted: ({ data: { tenantId, managementClientId, roles } }) =>
      memberships.put({ tenant_id: tenantId, management_client_id: managementClientId, roles: JSON.stringify(roles) }),
    MemberAdded: ({ data }) => putMember(memberOf(data), JSON.stringify(data.roles), 1, data.addedAt),
    MemberInvited: ({ data }) => putMember(memberOf(data), JSON.stringify(data.roles), 0, data.invitedAt),
    InvitationAccepted: ({ data: { tenantId, userId, acceptedBy, acceptedAt } }) =>
      members.with(memberOf({ tenantId, userId }), ({ roles }) => [
        acceptedBy === userId ? [] : members.remove(memberOf({ tenantId, userId })),
        putMember(memberOf({ tenantId, userId: acceptedBy }), roles, 1, acceptedAt),
      ]),
    MemberRolesChanged: ({ data }) => members.set(memberOf(data), { roles: JSON.stringify(data.roles) }),
    InvitationCancelled: removeMember,
    MemberRemoved: removeMember,
    TenantClientCreated: ({ data: { tenantId, clientId, name, roles, createdAt } }) =>
      clients.insert({
        id: clientId,
        tenant_id: tenantId,
        name,
        roles: JSON.stringify(roles),
        created_at: createdAt,
      }),
    TenantClientRenamed: ({ data }) => setClient(data, { name: data.name }),
    TenantClientRolesChanged: ({ data }) => setClient(data, { roles: JSON.stringify(data.roles) }),
    // Lists contain no secrets.
    TenantClientSecretRotated: nothing,
    TenantClientDeleted: ({ data }) => clients.remove({ tenant_id: data.tenantId, id: data.clientId }),
    TenantDeleted: ({ data: { tenantId } }) => [
      clients.remove({ tenant_id: tenantId }),
      memberships.remove({ tenant_id: tenantId }),
      members.remove({ tenant_id: tenantId }),
      tenants.remove({ id: tenantId }),
    ],
    TenantPurged: nothing,
    ManagementUserInvited: ({ data }) => setPerson(data.userId, { sealed_email: data.sealedEmail }),
    ManagementUserRegistered: ({ data: { userId, sealedEmail, sealedName = null } }) =>
      setPerson(userId, {
        sealed_name: sealedName,
        ...(sealedEmail !== undefined && { sealed_email: sealedEmail }),
      }),
    ManagementUserEmailChanged: ({ data }) => setPerson(data.userId, { sealed_email: data.sealedEmail }),
    ManagementUserNamed: ({ data }) => setPerson(data.userId, { sealed_name: data.sealedName }),
  },
});
