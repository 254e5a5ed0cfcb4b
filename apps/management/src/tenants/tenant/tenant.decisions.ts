import { conflict, forbidden, invalid, invalidBody, notFound, type MemberAccess, type Role } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';
import type { TenantEvent } from './tenant.events.js';
import type { ActiveTenant, TenantClient, TenantState } from './tenant.state.js';

/** The caller of the management API: a machine client, or a person. Their ids are separate. */
export type Principal = { kind: 'client'; clientId: string } | { kind: 'user'; userId: string };
/** A caller of an operation on a tenant, with the access that the operation declares. */
export type TenantCaller = Principal & { access: MemberAccess };

export const MAX_CLIENTS_PER_TENANT = 100;

export interface NewClientFacts {
  clientId: string;
  secretMac: SecretMac;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

export interface CreateTenantCommand {
  tenantId: string;
  environmentId: string;
  name: string;
  subdomain: string;
  host: string;
  /** Becomes its admin. */
  creator: Principal;
}

/** The whole first append: tenant, its creator's membership, its default client. */
export const createTenant = (
  state: TenantState,
  command: CreateTenantCommand,
  { clientId, secretMac, now }: NewClientFacts,
): TenantEvent[] => {
  if (state.status !== 'absent') throw conflict('The tenant already exists');
  const { creator, ...created } = command;
  const { tenantId } = command;
  return [
    { type: 'TenantCreated', data: { ...created, createdAt: now } },
    creator.kind === 'client'
      ? { type: 'MachineMembershipGranted', data: { tenantId, managementClientId: creator.clientId, roles: ['admin'] } }
      : { type: 'MemberAdded', data: { tenantId, userId: creator.userId, roles: ['admin'], addedAt: now } },
    {
      type: 'TenantClientCreated',
      data: { tenantId, clientId, name: 'Default client', roles: ['admin'], secretMac, createdAt: now },
    },
  ];
};

/** Roles of a principal in a tenant; `undefined` for a principal that is not a member, an invited person included. */
export const rolesOf = (tenant: ActiveTenant, principal: Principal): Role[] | undefined => {
  if (principal.kind === 'client') return tenant.machineMembers.get(principal.clientId);
  const member = tenant.members.get(principal.userId);
  return member?.status === 'active' ? member.roles : undefined;
};

/** Whether the operation is allowed to callers themselves, and the caller is that user. */
const isOwnCall = (caller: TenantCaller, userId: string | undefined): boolean =>
  caller.access.orSelf === true && caller.kind === 'user' && caller.userId === userId;

/**
 * The tenant, for a member who has access to the operation. Other callers get a 404, as for a tenant that does not exist.
 * @param userId the user in the path
 * @throws 403 for members without one of the roles that the operation requires
 */
export const requireMember = (
  state: TenantState,
  caller: TenantCaller,
  userId?: string,
): { tenant: ActiveTenant; roles: Role[] } => {
  const roles = state.status === 'active' ? rolesOf(state, caller) : undefined;
  if (state.status !== 'active' || !roles) throw notFound();
  const allowed = caller.access.roles;
  if (!isOwnCall(caller, userId) && !roles.some((role) => allowed.includes(role)))
    throw forbidden(`The caller needs the role ${allowed.join(' or ')} on the tenant`);
  return { tenant: state, roles };
};

export const createClient = (
  state: TenantState,
  command: { caller: TenantCaller; name: string; roles: Role[] },
  { clientId, secretMac, now }: NewClientFacts,
): TenantEvent[] => {
  const { tenant } = requireMember(state, command.caller);
  if (tenant.clients.has(clientId)) throw conflict('The client already exists');
  if (tenant.clients.size >= MAX_CLIENTS_PER_TENANT)
    throw invalid({
      msg: `a tenant can have at most ${MAX_CLIENTS_PER_TENANT} clients`,
      param: 'tenantId',
      location: 'params',
    });
  const { name, roles } = command;
  return [
    { type: 'TenantClientCreated', data: { tenantId: tenant.id, clientId, name, roles, secretMac, createdAt: now } },
  ];
};

/** A client of the tenant, by {@link requireMember}. */
export const requireClient = (state: TenantState, caller: TenantCaller, clientId: string): TenantClient => {
  const client = requireMember(state, caller).tenant.clients.get(clientId);
  if (!client) throw notFound();
  return client;
};

/** Both new values; an unchanged one adds no event. */
export const updateClient = (
  state: TenantState,
  command: { caller: TenantCaller; clientId: string; name: string; roles: Role[] },
): TenantEvent[] => {
  const { clientId, name, roles } = command;
  const { id: tenantId } = requireMember(state, command.caller).tenant;
  const client = requireClient(state, command.caller, clientId);
  const sameRoles = roles.length === client.roles.length && roles.every((role) => client.roles.includes(role));
  const renamed: TenantEvent = { type: 'TenantClientRenamed', data: { tenantId, clientId, name } };
  const changed: TenantEvent = { type: 'TenantClientRolesChanged', data: { tenantId, clientId, roles } };
  return [...(name === client.name ? [] : [renamed]), ...(sameRoles ? [] : [changed])];
};

/**
 * A new secret; the previous one is valid for another `overlapSeconds`. An older one ends at once, whatever remains of its
 * overlap: at most two are valid.
 */
export const rotateClientSecret = (
  state: TenantState,
  command: { caller: TenantCaller; clientId: string; overlapSeconds: number },
  { secretMac, now }: Omit<NewClientFacts, 'clientId'>,
): TenantEvent[] => {
  const { caller, clientId, overlapSeconds } = command;
  const { id: tenantId } = requireMember(state, caller).tenant;
  requireClient(state, caller, clientId);
  const previousExpiresAt = new Date(Date.parse(now) + overlapSeconds * 1000).toISOString();
  const rotated = { tenantId, clientId, secretMac, rotatedAt: now, ...(overlapSeconds > 0 && { previousExpiresAt }) };
  return [{ type: 'TenantClientSecretRotated', data: rotated }];
};

/** MACs of a client's valid secrets: one, or two during an overlap. */
export const liveSecrets = ({ secretMac, previous }: TenantClient, now: string): SecretMac[] => [
  secretMac,
  ...(previous && Date.parse(now) < Date.parse(previous.expiresAt) ? [previous.secretMac] : []),
];

/** The last one may be deleted too: its tenant's admins on the management API can create another. */
export const deleteClient = (
  state: TenantState,
  command: { caller: TenantCaller; clientId: string },
): TenantEvent[] => {
  const { tenant } = requireMember(state, command.caller);
  if (!tenant.clients.has(command.clientId)) throw notFound();
  return [{ type: 'TenantClientDeleted', data: { tenantId: tenant.id, clientId: command.clientId } }];
};

/**
 * The displayed name, and which roles may change the tenant's identity; the subdomain stays. An absent member keeps its value; an unchanged
 * value adds no event.
 * @throws 400 when neither is given
 */
export const updateTenant = (
  state: TenantState,
  { caller, name, restrictIdentityRoles }: { caller: TenantCaller; name?: string; restrictIdentityRoles?: boolean },
): TenantEvent[] => {
  const { id: tenantId, ...before } = requireMember(state, caller).tenant;
  if (name === undefined && restrictIdentityRoles === undefined)
    throw invalidBody('name', 'must be given when restrictIdentityRoles is not');
  const events: TenantEvent[] = [];
  if (name !== undefined && name !== before.name) events.push({ type: 'TenantRenamed', data: { tenantId, name } });
  if (restrictIdentityRoles !== undefined && restrictIdentityRoles !== before.restrictIdentityRoles)
    events.push({ type: 'TenantIdentityRolesRestrictionChanged', data: { tenantId, restrictIdentityRoles } });
  return events;
};

const deleted = ({ id: tenantId, environmentId, subdomain, host }: ActiveTenant): TenantEvent[] => [
  { type: 'TenantDeleted', data: { tenantId, environmentId, subdomain, host } },
];

export const deleteTenant = (state: TenantState, command: { caller: TenantCaller }): TenantEvent[] =>
  deleted(requireMember(state, command.caller).tenant);

const DAY_MS = 86_400_000;

/** Latest deletion time of the tenants that are purged by now. RFC 3339, UTC, milliseconds. */
export const purgedUpTo = (now: Date, days: number): string => new Date(now.getTime() - days * DAY_MS).toISOString();

/** Once. The caller has destroyed the keys; the subdomain stays claimed permanently. */
export const purgeTenant = (
  state: TenantState,
  command: { tenantId: string },
  facts: { now: string },
): TenantEvent[] =>
  state.status === 'deleted'
    ? [{ type: 'TenantPurged', data: { tenantId: command.tenantId, purgedAt: facts.now } }]
    : [];

/** Undoes a creation that lost its subdomain to a later one while it was in progress. */
export const withdrawTenant = (state: TenantState): TenantEvent[] => (state.status === 'active' ? deleted(state) : []);
