import type { Role } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { SecretMac } from '@attestry/keys';
import type { TenantEvent } from './tenant.events.js';

export interface TenantClient {
  name: string;
  roles: Role[];
  secretMac: SecretMac;
}

export interface ActiveTenant {
  status: 'active';
  id: string;
  environmentId: string;
  name: string;
  subdomain: string;
  host: string;
  /** By client id. Maps, for the ids of management clients may be any text, `__proto__` included. */
  clients: ReadonlyMap<string, TenantClient>;
  /** Roles by management client id. */
  machineMembers: ReadonlyMap<string, Role[]>;
}

export type TenantState = { status: 'absent' } | ActiveTenant | { status: 'deleted' };

export const tenantStream = (tenantId: string): string => `tenant-${tenantId}`;

const whileActive = (state: TenantState, change: (tenant: ActiveTenant) => TenantState): TenantState =>
  state.status === 'active' ? change(state) : state;

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
        clients: new Map(),
        machineMembers: new Map(),
      };
    }
    case 'MachineMembershipGranted': {
      const { managementClientId, roles } = event.data;
      return whileActive(state, (tenant) => ({
        ...tenant,
        machineMembers: new Map(tenant.machineMembers).set(managementClientId, roles),
      }));
    }
    case 'TenantClientCreated': {
      const { clientId, name, roles, secretMac } = event.data;
      return whileActive(state, (tenant) => ({
        ...tenant,
        clients: new Map(tenant.clients).set(clientId, { name, roles, secretMac }),
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
  }
};

export const tenant: Aggregate<TenantState, TenantEvent> = {
  category: 'tenant',
  initial: { status: 'absent' },
  types: {
    TenantCreated: 1,
    MachineMembershipGranted: 1,
    TenantClientCreated: 1,
    TenantClientDeleted: 1,
    TenantDeleted: 1,
  },
  evolve,
};
