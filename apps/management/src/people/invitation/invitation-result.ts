import type { InvitationResult } from '@attestry/contracts';
import { memberStatus } from '../../tenants/tenant/membership.decisions.js';
import type { TenantState } from '../../tenants/tenant/tenant.state.js';

/** Response to the sender of the invitation; `state` holds the invitation. */
export const invitationResult = (state: TenantState, userId: string, now: string): InvitationResult => {
  const member = state.status === 'active' ? state.members.get(userId) : undefined;
  if (!member?.inviteExpiresAt) throw new Error('the member has no invitation');
  return { userId, status: memberStatus(member, now), inviteExpiresAt: member.inviteExpiresAt };
};
