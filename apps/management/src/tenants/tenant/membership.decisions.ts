import { invalid, invalidBody, notFound, type Role } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';
import { rolesOf, requireMember, type TenantCaller } from './tenant.decisions.js';
import type { TenantEvent } from './tenant.events.js';
import type { ActiveTenant, Membership, TenantState } from './tenant.state.js';

export const MAX_MEMBERS_PER_TENANT = 1000;
/** Lifetime of an invitation. */
export const INVITATION_MS = 5 * 24 * 3_600_000;

/** `Expired` is derived, so that no job is needed. */
export const memberStatus = (member: Membership, now: string): 'Active' | 'Pending' | 'Expired' => {
  if (member.status === 'active') return 'Active';
  return Date.parse(now) < Date.parse(member.inviteExpiresAt) ? 'Pending' : 'Expired';
};

export interface InvitationFacts {
  /** Whether the invited user has registered: then the membership is active at once. */
  registered: boolean;
  invitationId: string;
  secretMac: SecretMac;
  sealedSecret: string;
  /** RFC 3339, UTC, milliseconds. */
  now: string;
}

/**
 * A registered user is added, an unknown one invited; a repeated invitation has a new link and invalidates the old one.
 * @throws as {@link requireMember}; 400 for an invitee who is already a member
 */
export const inviteMember = (
  state: TenantState,
  command: { caller: TenantCaller; userId: string; roles: Role[] },
  { registered, invitationId, secretMac, sealedSecret, now }: InvitationFacts,
): TenantEvent[] => {
  const { id: tenantId, members } = requireMember(state, command.caller).tenant;
  const { userId, roles } = command;
  const known = members.get(userId);
  if (known?.status === 'active') throw invalidBody('email', 'is already a member');
  if (!known && members.size >= MAX_MEMBERS_PER_TENANT)
    throw invalid({
      msg: `a tenant can have at most ${MAX_MEMBERS_PER_TENANT} members`,
      param: 'tenantId',
      location: 'params',
    });
  const expiresAt = new Date(Date.parse(now) + INVITATION_MS).toISOString();
  if (registered)
    return [{ type: 'MemberAdded', data: { tenantId, userId, roles, addedAt: now, inviteExpiresAt: expiresAt } }];
  const invited = { tenantId, userId, roles, invitationId, invitedAt: now, expiresAt, secretMac, sealedSecret };
  return [{ type: 'MemberInvited', data: invited }];
};

type Invited = Extract<Membership, { status: 'invited' }>;

/** An invitation, by {@link requireMember}. @throws 404 for a user who was not invited, 400 for one who has accepted */
export const seenInvitation = (
  state: TenantState,
  caller: TenantCaller,
  userId: string,
): { tenantId: string; invited: Invited } => {
  const { tenant } = requireMember(state, caller);
  const member = tenant.members.get(userId);
  if (!member) throw notFound();
  if (member.status === 'active')
    throw invalid({ msg: 'is already a member', param: 'userId', location: 'params', value: userId });
  return { tenantId: tenant.id, invited: member };
};

/**
 * A new link for an invited user, whether or not the old one has expired: the old one becomes invalid. A user who has registered
 * meanwhile is added, as by {@link inviteMember}.
 */
export const resendInvitation = (
  state: TenantState,
  command: { caller: TenantCaller; userId: string },
  facts: InvitationFacts,
): TenantEvent[] => {
  const { caller, userId } = command;
  const { roles } = seenInvitation(state, caller, userId).invited;
  return inviteMember(state, { caller, userId, roles }, facts);
};

/** Only before it was accepted: a member is removed instead. */
export const cancelInvitation = (
  state: TenantState,
  command: { caller: TenantCaller; userId: string },
): TenantEvent[] => {
  const { userId } = command;
  const { tenantId, invited } = seenInvitation(state, command.caller, userId);
  return [{ type: 'InvitationCancelled', data: { tenantId, userId, invitationId: invited.invitationId } }];
};

const deadLink = () => invalidBody('token', 'must be the token of an open invitation');

export interface AcceptanceFacts {
  /** Whether the secret presented is the invitation's, by its MAC. */
  isGenuine: (secretMac: SecretMac) => boolean;
  /** Whether the invited user has registered. */
  registered: boolean;
  now: string;
}

/**
 * The holder of the link reads the invited mailbox. An invitation of a registered user is theirs alone; any other may be accepted by the
 * holder of the link, as the user they are.
 * @throws 400 on `token`; the same for an invitation that was accepted, replaced or withdrawn
 */
export const acceptInvitation = (
  state: TenantState,
  command: { userId: string; invitationId: string; acceptedBy: string },
  { isGenuine, registered, now }: AcceptanceFacts,
): TenantEvent[] => {
  const { userId, invitationId, acceptedBy } = command;
  const member = state.status === 'active' ? state.members.get(userId) : undefined;
  if (state.status !== 'active' || member?.status !== 'invited') throw deadLink();
  if (member.invitationId !== invitationId || !isGenuine(member.secretMac)) throw deadLink();
  if (memberStatus(member, now) === 'Expired')
    throw invalidBody('token', 'has expired; ask the sender for a new invitation');
  if (acceptedBy !== userId) {
    if (registered) throw invalidBody('token', 'is for another user');
    if (state.members.get(acceptedBy)?.status === 'active')
      throw invalidBody('token', 'can only be used by someone who is not yet a member');
  }
  return [
    { type: 'InvitationAccepted', data: { tenantId: state.id, userId, invitationId, acceptedBy, acceptedAt: now } },
  ];
};

/** A member of the tenant, by {@link requireMember}. @throws 404 for a user who is none */
export const seenMember = (
  state: TenantState,
  caller: TenantCaller,
  userId: string,
): { tenant: ActiveTenant; member: Membership } => {
  const { tenant } = requireMember(state, caller, userId);
  const member = tenant.members.get(userId);
  if (!member) throw notFound();
  return { tenant, member };
};

/** Whether the tenant has another admin than this member: another person, or a machine client. */
const hasOtherAdmin = ({ members, machineMembers }: ActiveTenant, userId: string): boolean =>
  [...machineMembers.values()].some((roles) => roles.includes('admin')) ||
  [...members].some(([id, it]) => id !== userId && it.status === 'active' && it.roles.includes('admin'));

const isLastAdmin = (tenant: ActiveTenant, userId: string): boolean =>
  (rolesOf(tenant, { kind: 'user', userId })?.includes('admin') ?? false) && !hasOtherAdmin(tenant, userId);

/** @throws 400 for the last admin */
export const updateMembership = (
  state: TenantState,
  command: { caller: TenantCaller; userId: string; roles: Role[] },
): TenantEvent[] => {
  const { tenant } = requireMember(state, command.caller);
  const { userId, roles } = command;
  const member = tenant.members.get(userId);
  if (!member) throw notFound();
  if (!roles.includes('admin') && isLastAdmin(tenant, userId))
    throw invalidBody('roles', 'must include admin, because the tenant has no other admin');
  const isSame = roles.length === member.roles.length && roles.every((role) => member.roles.includes(role));
  return isSame ? [] : [{ type: 'MemberRolesChanged', data: { tenantId: tenant.id, userId, roles } }];
};

/** @throws 400 for the last admin */
export const removeMember = (state: TenantState, command: { caller: TenantCaller; userId: string }): TenantEvent[] => {
  const { caller, userId } = command;
  const { tenant } = seenMember(state, caller, userId);
  if (isLastAdmin(tenant, userId))
    throw invalid({
      msg: 'must not be the last admin of the tenant',
      param: 'userId',
      location: 'params',
      value: userId,
    });
  return [{ type: 'MemberRemoved', data: { tenantId: tenant.id, userId } }];
};
