import type { Role } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import type { TenantEvent } from './tenant.events.js';

export interface TenantClient {
  name: string;
  roles: Role[];
  secretMac: SecretMac;
  /** The secret before the last rotation; whether it is still valid is derived on read. */
  previous?: { secretMac: SecretMac; expiresAt: string };
}

/** A user's membership. Whether an invitation has expired is derived on read. */
export type Membership =
  | { status: 'active'; roles: Role[]; inviteExpiresAt?: string }
  | { status: 'invited'; roles: Role[]; inviteExpiresAt: string; invitationId: string; secretMac: SecretMac };

export interface ActiveTenant {
  status: 'active';
  id: string;
  environmentId: string;
  name: string;
  subdomain: string;
  host: string;
  /** Only `admin` and `issuer` clients change custom domain, DIDs and authentication provider (ADR 0053). */
  restrictIdentityRoles: boolean;
  /** By client id. Maps, as the ids of management clients may be any text, `__proto__` included. */
  clients: ReadonlyMap<string, TenantClient>;
  /** Roles by management client id. */
  machineMembers: ReadonlyMap<string, Role[]>;
  /** By user id. */
  members: ReadonlyMap<string, Membership>;
}

export type TenantState = { status: 'absent' } | ActiveTenant | { status: 'deleted' } | { status: 'purged' };

export const tenantStream = (tenantId: string): string => `tenant-${tenantId}`;

const whileActive = (state: TenantState, change: (tenant: ActiveTenant) => TenantState): TenantState =>
  state.status === 'active' ? change(state) : state;

const withMember = (state: TenantState, userId: string, member: Membership): TenantState =>
  whileActive(state, (tenant) => ({ ...tenant, members: new Map(tenant.members).set(userId, member) }));

const withoutMember = (state: TenantState, userId: string): TenantState =>
  whileActive(state, (tenant) => ({
    ...tenant,
    members: new Map([...tenant.members].filter(([id]) => id !== userId)),
  }));

const withClient = (
  state: TenantState,
  clientId: string,
  change: (client: TenantClient) => TenantClient,
): TenantState =>
  whileActive(state, (tenant) => {
    const client = tenant.clients.get(clientId);
    return client ? { ...tenant, clients: new Map(tenant.clients).set(clientId, change(client)) } : tenant;
  });

const evolve = (state: TenantState, event: TenantEvent): TenantState => {
  switch (event.type) {
    case 'TenantCreated': {
      const { tenantId, environmentId, name, subdomain, host } = event.data;
      return {
        status: 'active',
        id: tenantId,
        environmentId,
        name,
        subdomain,
        host,
        restrictIdentityRoles: false,
        clients: new Map(),
        machineMembers: new Map(),
        members: new Map(),
      };
    }
    case 'TenantRenamed':
      return whileActive(state, (tenant) => ({ ...tenant, name: event.data.name }));
    case 'TenantIdentityRolesRestrictionChanged': {
      const { restrictIdentityRoles } = event.data;
      return whileActive(state, (tenant) => ({ ...tenant, restrictIdentityRoles }));
    }
    case 'MachineMembershipGranted': {
      const { managementClientId, roles } = event.data;
      return whileActive(state, (tenant) => ({
        ...tenant,
        machineMembers: new Map(tenant.machineMembers).set(managementClientId, roles),
      }));
    }
    case 'MemberAdded': {
      const { userId, roles, inviteExpiresAt } = event.data;
      return withMember(state, userId, {
        status: 'active',
        roles,
        ...(inviteExpiresAt !== undefined && { inviteExpiresAt }),
      });
    }
    case 'MemberInvited': {
      const { userId, roles, expiresAt: inviteExpiresAt, invitationId, secretMac } = event.data;
      return withMember(state, userId, { status: 'invited', roles, inviteExpiresAt, invitationId, secretMac });
    }
    case 'InvitationAccepted': {
      const { userId, acceptedBy } = event.data;
      const invited = state.status === 'active' ? state.members.get(userId) : undefined;
      if (!invited) return state;
      const { roles, inviteExpiresAt } = invited;
      return withMember(withoutMember(state, userId), acceptedBy, {
        status: 'active',
        roles,
        ...(inviteExpiresAt !== undefined && { inviteExpiresAt }),
      });
    }
    case 'InvitationCancelled':
      return withoutMember(state, event.data.userId);
    case 'MemberRolesChanged': {
      const { userId, roles } = event.data;
      const member = state.status === 'active' ? state.members.get(userId) : undefined;
      return member ? withMember(state, userId, { ...member, roles }) : state;
    }
    case 'MemberRemoved':
      return withoutMember(state, event.data.userId);
    case 'TenantClientCreated': {
      const { clientId, name, roles, secretMac } = event.data;
      return whileActive(state, (tenant) => ({
        ...tenant,
        clients: new Map(tenant.clients).set(clientId, { name, roles, secretMac }),
      }));
    }
    case 'TenantClientRenamed':
      return withClient(state, event.data.clientId, (client) => ({ ...client, name: event.data.name }));
    case 'TenantClientRolesChanged':
      return withClient(state, event.data.clientId, (client) => ({ ...client, roles: event.data.roles }));
    case 'TenantClientSecretRotated': {
      const { clientId, secretMac, previousExpiresAt: expiresAt } = event.data;
      return withClient(state, clientId, ({ name, roles, secretMac: before }) => ({
        name,
        roles,
        secretMac,
        ...(expiresAt !== undefined && { previous: { secretMac: before, expiresAt } }),
      }));
    }
    case 'TenantClientDeleted': {
      const { clientId } = event.data;
      return whileActive(state, (tenant) => ({
        ...tenant,
        clients: new Map([...tenant.clients].filter(([id]) => id !== clientId)),
      }));
    }
    case 'TenantDeleted':
      return { status: 'deleted' };
    case 'TenantPurged':
      return { status: 'purged' };
  }
};

export const tenant: Aggregate<TenantState, TenantEvent> = {
  category: 'tenant',
  initial: { status: 'absent' },
  types: {
    TenantCreated: 1,
    TenantRenamed: 1,
    TenantIdentityRolesRestrictionChanged: 1,
    MachineMembershipGranted: 1,
    MemberAdded: 1,
    MemberInvited: 1,
    InvitationAccepted: 1,
    InvitationCancelled: 1,
    MemberRolesChanged: 1,
    MemberRemoved: 1,
    TenantClientCreated: 1,
    TenantClientRenamed: 1,
    TenantClientRolesChanged: 1,
    TenantClientSecretRotated: 1,
    TenantClientDeleted: 1,
    TenantDeleted: 1,
    TenantPurged: 1,
  },
  evolve,
};
