import { defineOperation, memberWith, userAccess } from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Role } from '../roles.js';
import { Email, BoundedText, Roles } from '../validators.js';
import { MemberParams, MembershipUpdate, type MemberStatus } from './members.js';
import { TenantParams } from './tenants.js';

export class InviteMemberRequest {
  @Email() email: string;
  @Roles() roles: Role[];
}

export class InvitationResult {
  userId: string;
  status: MemberStatus;
  inviteExpiresAt: string;
}

export class Invitation {
  userId: string;
  email: string;
  /** `Pending` or `Expired`. */
  status: MemberStatus;
  roles: Role[];
  inviteExpiresAt: string;
}

export const inviteMember = defineOperation({
  name: 'management.invite-member',
  summary: 'Invite a member to a tenant',
  description: 'A registered user becomes a member immediately; anyone else gets an e-mail with a link.',
  http: { method: 'POST', path: '/v1/tenants/:tenantId/invitations', success: 200, hosts: ['management'] },
  access: memberWith('tenant-members:create'),
  analytics: {
    prefix: 'TENANT_MEMBER_INVITATION_CREATE',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'event.userId' },
  },
  params: TenantParams,
  body: InviteMemberRequest,
  example: { email: 'ada@university.example', roles: ['issuer'] },
  resource: Invitation,
  response: InvitationResult,
  errorStatuses: [400, 404],
  idempotent: true,
});

export const listInvitations = defineOperation({
  name: 'management.list-invitations',
  summary: 'Retrieve the open and expired invitations of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/invitations', success: 200, hosts: ['management'] },
  access: memberWith('tenant-members:read'),
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_RETRIEVE_LIST', category: 'tenant-member', tenantFrom: 'params' },
  params: TenantParams,
  query: PageQuery,
  response: [Invitation],
  errorStatuses: [400, 404],
});

export const resendInvitation = defineOperation({
  name: 'management.resend-invitation',
  summary: 'Resend an invitation',
  description: 'Sends a new link; the previous link becomes invalid immediately.',
  http: {
    method: 'POST',
    path: '/v1/tenants/:tenantId/invitations/:userId/resend',
    success: 200,
    hosts: ['management'],
    body: 'none',
  },
  access: memberWith('tenant-members:create'),
  analytics: {
    prefix: 'TENANT_MEMBER_INVITATION_RESEND',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'params.userId' },
  },
  params: MemberParams,
  response: InvitationResult,
  errorStatuses: [400, 404],
});

export const cancelInvitation = defineOperation({
  name: 'management.cancel-invitation',
  summary: 'Cancel an invitation that is not accepted yet',
  description: 'Its link becomes invalid immediately.',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/invitations/:userId', success: 204, hosts: ['management'] },
  access: memberWith('tenant-members:delete'),
  analytics: {
    prefix: 'TENANT_MEMBER_INVITATION_CANCEL',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'params.userId' },
  },
  params: MemberParams,
  errorStatuses: [400, 404],
});

export class AcceptInvitationRequest {
  /** Parameter `token` of the link in the invitation e-mail. */
  @BoundedText(300, 1) token: string;
}

export const acceptInvitation = defineOperation({
  name: 'management.accept-invitation',
  summary: 'Accept an invitation as the caller',
  http: { method: 'POST', path: '/v1/invitations/accept', success: 200, hosts: ['management'] },
  access: userAccess,
  analytics: {
    prefix: 'TENANT_MEMBER_INVITATION_ACCEPT',
    category: 'tenant-member',
    object: { type: 'tenant-member', from: 'caller' },
  },
  body: AcceptInvitationRequest,
  example: { token: 'the token of the link in the invitation' },
  response: MembershipUpdate,
  secrets: ['token'],
  errorStatuses: [400],
});
