import { defineOperation, memberWith } from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Role } from '../roles.js';
import { Roles, Uuid } from '../validators.js';
import { TenantParams } from './tenants.js';

/** `Active` for members, `Pending` for open invitations, `Expired` for invitations that were not accepted in time. */
export type MemberStatus = 'Active' | 'Pending' | 'Expired';

export class Member {
  /** Id of the user. */
  id: string;
  email: string;
  name: string;
  status: MemberStatus;
  roles: Role[];
  /** Absent for the user that created the tenant, who was never invited. */
  inviteExpiresAt?: string;
}

export class MemberParams extends TenantParams {
  /** Id of the user. */
  @Uuid() userId: string;
}

export class UpdateMembershipRequest {
  @Roles() roles: Role[];
}

export class MembershipUpdate {
  userId: string;
  tenantId: string;
  roles: Role[];
}

export const listMembers = defineOperation({
  name: 'management.list-members',
  summary: 'Retrieve the members of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/members', success: 200, hosts: ['management'] },
  access: memberWith('tenant-members:read'),
  analytics: { prefix: 'TENANT_MEMBER_RETRIEVE_LIST', category: 'tenant-member', tenantFrom: 'params' },
  params: TenantParams,
  query: PageQuery,
  response: [Member],
  errorStatuses: [400, 404],
});

export const retrieveMember = defineOperation({
  name: 'management.retrieve-member',
  summary: 'Retrieve a member of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/members/:userId', success: 200, hosts: ['management'] },
  access: memberWith('tenant-members:read', 'orSelf'),
  analytics: {
    prefix: 'TENANT_MEMBER_RETRIEVE',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'params.userId' },
  },
  params: MemberParams,
  response: Member,
  errorStatuses: [400, 404],
});

export const updateMembership = defineOperation({
  name: 'management.update-membership',
  summary: 'Update the roles of a member of a tenant',
  description: 'The new roles take effect with the next call.',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId/memberships/:userId', success: 200, hosts: ['management'] },
  access: memberWith('tenant-members:update'),
  analytics: {
    prefix: 'TENANT_MEMBERSHIP_UPDATE',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'params.userId' },
  },
  params: MemberParams,
  body: UpdateMembershipRequest,
  example: { roles: ['issuer', 'auditor'] },
  resource: Member,
  response: MembershipUpdate,
  errorStatuses: [400, 404],
});

export const deleteMembership = defineOperation({
  name: 'management.delete-membership',
  summary: 'Remove a member from a tenant',
  description: 'The member loses access with the next call.',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/memberships/:userId', success: 204, hosts: ['management'] },
  access: memberWith('tenant-members:delete', 'orSelf'),
  analytics: {
    prefix: 'TENANT_MEMBERSHIP_DELETE',
    category: 'tenant-member',
    tenantFrom: 'params',
    object: { type: 'tenant-member', from: 'params.userId' },
  },
  params: MemberParams,
  errorStatuses: [400, 404],
});
