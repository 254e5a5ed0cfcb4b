import { IsBoolean, IsInt, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { AnalyticsEvent, ListEventsQuery } from '../analytics/analytics.operations.js';
import { SUBDOMAIN_FAULT, SUBDOMAIN_PATTERN } from '../identifiers.js';
import {
  calledBy,
  defineOperation,
  managementAccess,
  memberAccess,
  memberWith,
  publicAccess,
  userAccess,
} from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Permission, Role } from '../roles.js';
import { ClientId, Email, BoundedJson, BoundedText, Name, Optional, Roles, Uuid } from '../validators.js';

export class Region {
  id: string;
  /** Name in lower case, for example `local`. */
  name: string;
  displayName: string;
}

export class Environment {
  id: string;
  name: string;
  /** Domain of the tenants: each has the host `<subdomain>.<domain>`. */
  domain: string;
  /** Host of the token endpoint. */
  authorizationServerDomain: string;
  deploymentModel: string;
  region: Region;
}

export class TenantParams {
  /** Id of the tenant. */
  @Uuid() tenantId: string;
}

export class CreateTenantRequest {
  /** Display name, which wallets show as the name of the issuer unless the tenant sets `displayName`. Default: the subdomain. */
  @Optional() @Name() name?: string;

  /** First label of the tenant's host. Cannot be changed later. */
  @IsString({ message: 'must be a string' })
  @Matches(SUBDOMAIN_PATTERN, { message: SUBDOMAIN_FAULT })
  @MaxLength(63, { message: SUBDOMAIN_FAULT })
  subdomain: string;

  /** Id of an environment, from `GET /v1/environments`. */
  @Uuid() environmentId: string;
}

export class Membership {
  /** Roles of the caller on the tenant. */
  roles: Role[];
}

export class ClientCredentials {
  clientId: string;
  /** Returned once; it cannot be retrieved later. */
  clientSecret: string;
}

export class Tenant {
  id: string;
  name: string;
  /** Full host of the tenant, with its domain. */
  subdomain: string;
  environmentId: string;
  environment: Environment;
  /**
   * True if only clients with the role `admin` or `issuer` may change the custom domain, DIDs, authentication providers and the interaction
   * hook.
   */
  restrictIdentityRoles: boolean;
  membership: Membership;
}

export class CreatedTenant extends Tenant {
  /** Credentials of the default client, which has the role `admin`. */
  client: ClientCredentials;
}

export class CreateClientRequest {
  @Name() name: string;
  @Roles() roles: Role[];
}

/** Replaces name and roles. */
export class UpdateClientRequest {
  @Name() name: string;
  @Roles() roles: Role[];
}

export class TenantClient {
  clientId: string;
  name: string;
  roles: Role[];
  permissions: Permission[];
}

export class CreatedClient extends TenantClient {
  /** 64 characters. Returned once; it cannot be retrieved later. */
  clientSecret: string;
}

/** Maximum time in which two secrets of a client are valid, seconds: 7 days. */
export const MAX_SECRET_OVERLAP_SECONDS = 604_800;

export class RotateClientSecretRequest {
  /** Seconds for which the previous secret stays valid; 0 revokes it immediately. Default: set by the operator, usually 86400 (one day). */
  @Optional()
  @Max(MAX_SECRET_OVERLAP_SECONDS, { message: `must be at most ${MAX_SECRET_OVERLAP_SECONDS} (7 days)` })
  @Min(0, { message: 'must not be negative' })
  // Declared last, checked first.
  @IsInt({ message: 'must be an integer' })
  overlapSeconds?: number;
}

export class RotatedClientSecret extends ClientCredentials {
  /** Time at which the previous secret expires. Absent if it is already invalid. */
  previousSecretExpiresAt?: string;
}

export class ClientParams extends TenantParams {
  /** Id of the client. */
  @ClientId() clientId: string;
}

// The members of token and revocation requests are checked in the service, because their errors have the OAuth shape.
/** Token request of a client (RFC 6749 section 4.4). */
export class TokenRequest {
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
  /** Address of the tenant, with or without scheme. Default: the address of the management API, for management clients. */
  @Optional() @BoundedJson() audience?: string;
  /** Must be `client_credentials`. */
  @Optional() @BoundedJson() grant_type?: string;
}

export class TokenResponse {
  access_token: string;
  /** Lifetime of the access token in seconds. */
  expires_in: number;
  token_type: 'Bearer';
}

export class JwkSet {
  keys: Record<string, unknown>[];
}

export const issueToken = defineOperation({
  name: 'management.issue-token',
  summary: 'Issue an access token to a management client or a tenant client',
  description:
    'The client sends its credentials in the body or with the scheme Basic in the `Authorization` header (RFC 6749 section 2.3.1), not both.',
  http: {
    method: 'POST',
    path: '/oauth/token',
    success: 200,
    hosts: ['auth', 'management'],
    body: 'json-or-form',
    maxBodyBytes: 16_384,
  },
  access: publicAccess,
  publicUrl: true,
  rate: 'client-token',
  errors: 'oauth',
  body: TokenRequest,
  example: {
    client_id: 'kq3Zb8XnW5mVt1Yc7RfL2sHd9JpA4uGe',
    client_secret: 'the secret of the client',
    audience: 'https://university.example',
    grant_type: 'client_credentials',
  },
  response: TokenResponse,
  secrets: ['client_secret'],
  errorStatuses: [400, 401, 429],
});

/** Form parameters of a revocation request (RFC 7009). */
export class RevokeTokenRequest {
  /** Access token to revoke. */
  @Optional() @BoundedJson() token?: string;
  /** Ignored, because there is only one type of token. */
  @Optional() @BoundedJson() token_type_hint?: string;
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
}

/** Empty object: RFC 7009 section 2.2 defines no members. */
export class RevokedToken {}

export const revokeToken = defineOperation({
  name: 'management.revoke-token',
  summary: 'Revoke an access token of the client that makes the call (RFC 7009)',
  description: 'The response is also 200 if the token is unknown, expired or issued to another client.',
  http: { method: 'POST', path: '/oauth/revoke', success: 200, hosts: ['auth'], body: 'form', maxBodyBytes: 16_384 },
  access: publicAccess,
  publicUrl: true,
  rate: 'client-token',
  errors: 'oauth',
  body: RevokeTokenRequest,
  example: {
    token: 'an.access.token',
    client_id: 'kq3Zb8XnW5mVt1Yc7RfL2sHd9JpA4uGe',
    client_secret: 'the secret of the client',
  },
  response: RevokedToken,
  secrets: ['client_secret', 'token'],
  errorStatuses: [400, 401, 413, 415, 429],
});

export const retrieveTokenKeys = defineOperation({
  name: 'management.retrieve-token-keys',
  summary: 'Retrieve the key set that verifies access tokens of clients',
  http: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    success: 200,
    hosts: ['auth'],
    document: true,
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  response: JwkSet,
});

export const listEnvironments = defineOperation({
  name: 'management.list-environments',
  summary: 'Retrieve the environments',
  http: { method: 'GET', path: '/v1/environments', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'ENVIRONMENT_RETRIEVE_LIST', category: 'environment' },
  query: PageQuery,
  response: [Environment],
  errorStatuses: [400],
});

export const createTenant = defineOperation({
  name: 'management.create-tenant',
  summary: 'Create a tenant with its default client',
  http: { method: 'POST', path: '/v1/tenants', success: 201, hosts: ['management'] },
  access: managementAccess,
  analytics: {
    prefix: 'TENANT_CREATE',
    category: 'tenant',
    tenantFrom: 'answer',
    object: { type: 'tenant', from: 'stream' },
  },
  body: CreateTenantRequest,
  example: { subdomain: 'university', environmentId: '7f1c9f0e-9a4c-4a3b-8a52-0c8f4e3f2b61' },
  resource: Tenant,
  response: CreatedTenant,
  errorStatuses: [400, 503],
  idempotent: true,
});

export const listTenants = defineOperation({
  name: 'management.list-tenants',
  summary: 'Retrieve the tenants of the caller',
  http: { method: 'GET', path: '/v1/tenants', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_RETRIEVE_LIST', category: 'tenant' },
  query: PageQuery,
  response: [Tenant],
  errorStatuses: [400],
});

export const retrieveTenant = defineOperation({
  name: 'management.retrieve-tenant',
  summary: 'Retrieve a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId', success: 200, hosts: ['management'] },
  access: memberAccess,
  analytics: {
    prefix: 'TENANT_RETRIEVE',
    category: 'tenant',
    tenantFrom: 'params',
    object: { type: 'tenant', from: 'params.tenantId' },
  },
  params: TenantParams,
  response: Tenant,
  errorStatuses: [400, 404],
});

/** At least one member is required. Absent members keep their value. */
export class UpdateTenantRequest {
  /** Display name, also for wallets, as in the creation. */
  @Optional() @Name() name?: string;

  /**
   * Whether only clients with the role `admin` or `issuer` may change the custom domain, DIDs, authentication providers and the
   * interaction hook. Takes effect within a second, also for access tokens that are already issued.
   */
  @Optional()
  @IsBoolean({ message: 'must be a boolean' })
  restrictIdentityRoles?: boolean;
}

export const updateTenant = defineOperation({
  name: 'management.update-tenant',
  summary: 'Update a tenant',
  description: 'Changes the name or `restrictIdentityRoles`. The subdomain cannot be changed.',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId', success: 200, hosts: ['management'] },
  access: memberWith('tenant:update'),
  analytics: {
    prefix: 'TENANT_UPDATE',
    category: 'tenant',
    tenantFrom: 'params',
    object: { type: 'tenant', from: 'params.tenantId' },
  },
  params: TenantParams,
  body: UpdateTenantRequest,
  example: { name: 'Example University', restrictIdentityRoles: false },
  response: Tenant,
  errorStatuses: [400, 404],
});

export const deleteTenant = defineOperation({
  name: 'management.delete-tenant',
  summary: 'Delete a tenant',
  description:
    'Its host returns 404 and its access tokens are rejected immediately. Its keys and data are purged 30 days later, unless the operator set another period.',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId', success: 204, hosts: ['management'] },
  access: memberWith('tenant:delete'),
  analytics: {
    prefix: 'TENANT_DELETE',
    category: 'tenant',
    tenantFrom: 'params',
    object: { type: 'tenant', from: 'params.tenantId' },
  },
  params: TenantParams,
  errorStatuses: [400, 404],
});

export const createClient = defineOperation({
  name: 'management.create-client',
  summary: 'Create a client of a tenant',
  http: { method: 'POST', path: '/v1/tenants/:tenantId/clients', success: 201, hosts: ['management'] },
  access: memberWith('tenant-clients:create'),
  analytics: {
    prefix: 'TENANT_CLIENT_CREATE',
    category: 'tenant-client',
    tenantFrom: 'params',
    object: { type: 'tenant-client', from: 'event.clientId' },
  },
  params: TenantParams,
  body: CreateClientRequest,
  example: { name: 'Student portal', roles: ['issuer'] },
  resource: TenantClient,
  response: CreatedClient,
  errorStatuses: [400, 404, 503],
  idempotent: true,
});

export const listClients = defineOperation({
  name: 'management.list-clients',
  summary: 'Retrieve the clients of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/clients', success: 200, hosts: ['management'] },
  access: memberWith('tenant-clients:read'),
  analytics: { prefix: 'TENANT_CLIENT_RETRIEVE_LIST', category: 'tenant-client', tenantFrom: 'params' },
  params: TenantParams,
  query: PageQuery,
  response: [TenantClient],
  errorStatuses: [400, 404],
});

export const retrieveClient = defineOperation({
  name: 'management.retrieve-client',
  summary: 'Retrieve a client of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/clients/:clientId', success: 200, hosts: ['management'] },
  access: memberWith('tenant-clients:read'),
  analytics: {
    prefix: 'TENANT_CLIENT_RETRIEVE',
    category: 'tenant-client',
    tenantFrom: 'params',
    object: { type: 'tenant-client', from: 'params.clientId' },
  },
  params: ClientParams,
  response: TenantClient,
  errorStatuses: [400, 404],
});

export const updateClient = defineOperation({
  name: 'management.update-client',
  summary: 'Update a client of a tenant',
  description:
    'Replaces name and roles. New roles take effect within a second, also for access tokens that are already issued.',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId/clients/:clientId', success: 200, hosts: ['management'] },
  access: memberWith('tenant-clients:update'),
  analytics: {
    prefix: 'TENANT_CLIENT_UPDATE',
    category: 'tenant-client',
    tenantFrom: 'params',
    object: { type: 'tenant-client', from: 'params.clientId' },
  },
  params: ClientParams,
  body: UpdateClientRequest,
  example: { name: 'Student portal', roles: ['issuer', 'auditor'] },
  response: TenantClient,
  errorStatuses: [400, 404],
});

export const rotateClientSecret = defineOperation({
  name: 'management.rotate-client-secret',
  summary: 'Rotate the secret of a client of a tenant',
  description:
    'Returns a new secret. The previous one stays valid for `overlapSeconds`; an older one is revoked immediately.',
  http: {
    method: 'POST',
    path: '/v1/tenants/:tenantId/clients/:clientId/secret',
    success: 201,
    hosts: ['management'],
  },
  access: memberWith('tenant-clients:update'),
  analytics: {
    prefix: 'TENANT_CLIENT_SECRET_ROTATE',
    category: 'tenant-client',
    tenantFrom: 'params',
    object: { type: 'tenant-client', from: 'params.clientId' },
  },
  params: ClientParams,
  body: RotateClientSecretRequest,
  example: { overlapSeconds: 3600 },
  response: RotatedClientSecret,
  errorStatuses: [400, 404],
  idempotent: true,
});

export const deleteClient = defineOperation({
  name: 'management.delete-client',
  summary: 'Delete a client of a tenant',
  description: 'Its access tokens are rejected within a second.',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/clients/:clientId', success: 204, hosts: ['management'] },
  access: memberWith('tenant-clients:delete'),
  analytics: {
    prefix: 'TENANT_CLIENT_DELETE',
    category: 'tenant-client',
    tenantFrom: 'params',
    object: { type: 'tenant-client', from: 'params.clientId' },
  },
  params: ClientParams,
  errorStatuses: [400, 404, 503],
});

export class PricingPlan {
  /** Name of the plan, for example `Standard`. */
  type: string;
  /** End of the plan. Absent if it has no end. */
  endDate?: string;
}

/** The user that makes the call. */
export class UserInformation {
  id: string;
  /** Verified e-mail address. Empty until the OpenID provider has confirmed one. */
  email: string;
  name: string;
  pricingPlan: PricingPlan;
  /** Always `Active`. */
  status: string;
}

export class UpdateUserInformationRequest {
  @Name() name: string;
}

export const retrieveUserInformation = defineOperation({
  name: 'management.retrieve-user-information',
  summary: 'Retrieve the user information of the caller',
  http: { method: 'GET', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: userAccess,
  analytics: { prefix: 'USER_USERINFO_RETRIEVE', category: 'user', object: { type: 'user', from: 'caller' } },
  response: UserInformation,
});

export const updateUserInformation = defineOperation({
  name: 'management.update-user-information',
  summary: 'Update the user information of the caller',
  http: { method: 'PUT', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: userAccess,
  analytics: { prefix: 'USER_USERINFO_UPDATE', category: 'user', object: { type: 'user', from: 'caller' } },
  body: UpdateUserInformationRequest,
  example: { name: 'Ada Lovelace' },
  response: UserInformation,
  errorStatuses: [400],
});

/** `Active` for members, `Pending` for open invitations, `Expired` for invitations that were not accepted in time. */
export type MemberStatus = 'Active' | 'Pending' | 'Expired';

export class InviteMemberRequest {
  @Email() email: string;
  @Roles() roles: Role[];
}

export class InvitationResult {
  userId: string;
  status: MemberStatus;
  inviteExpiresAt: string;
}

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

/** The events of the tenant API's `GET /v1/events`, for members without a client of the tenant. Management queries analytics. */
export const listTenantEvents = defineOperation({
  name: 'management.list-tenant-events',
  summary: 'Retrieve the analytics events of a tenant, newest first',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/events', success: 200, hosts: ['management'] },
  access: memberWith('tenant:read'),
  // Not listed in the tenant's own events, which would grow with every query.
  analytics: { prefix: 'TENANT_EVENT_RETRIEVE_LIST', category: 'tenant' },
  params: TenantParams,
  query: ListEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400, 404, 503],
});

/** Query of the gateway's tenant directory on a cache miss (ADR 0056). */
export class LookUpTenantRequest {
  /** Canonical host, or a tenant id. */
  @Optional() @IsString() @MaxLength(300) host?: string;
  @Optional() @Uuid() tenantId?: string;
}

export class DirectorySecret {
  /** Value of the claim `secret_id` of tokens. */
  id: string;
  /** End of the overlap, for a secret that was rotated. */
  expiresAt?: string;
}

export class DirectoryTenant {
  tenantId: string;
  /** Canonical host. */
  host: string;
  /** Absent while management runs a release that does not send it. */
  name?: string;
  restrictIdentityRoles: boolean;
  /** Existing clients, with their roles and the secrets whose tokens are valid. */
  clients: { clientId: string; roles: Role[]; secrets?: DirectorySecret[] }[];
}

export class DirectoryAnswer {
  /** Absent if no active tenant has this host or id. */
  tenant?: DirectoryTenant;
  /** The deleted tenant that had this host; absent if there is none. */
  ended?: { tenantId: string; isPurged: boolean };
}

export const lookUpTenant = defineOperation({
  name: 'management.look-up-tenant',
  summary: "Resolve a host or a tenant id for the gateway's tenant directory",
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpTenantRequest,
  response: DirectoryAnswer,
});

export class LookUpManagementClientRequest {
  @IsString() @Length(1, 128) clientId: string;
}
export class ManagementClientAnswer {
  exists: boolean;
  /** Value of the claim `secret_id` of valid tokens. */
  secretId?: string;
}
export const lookUpManagementClient = defineOperation({
  name: 'management.look-up-management-client',
  summary: 'Check whether a management client exists',
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpManagementClientRequest,
  response: ManagementClientAnswer,
});

export class LookUpTokenRequest {
  /** `jti` of a token whose signature is verified. */
  @IsString() @Length(1, 128) tokenId: string;
}
export class TokenAnswer {
  isRevoked: boolean;
}
export const lookUpToken = defineOperation({
  name: 'management.look-up-token',
  summary: 'Check whether an access token of a client is revoked',
  access: calledBy('gateway'),
  kind: 'query',
  body: LookUpTokenRequest,
  response: TokenAnswer,
});

/** Claims about a person from an access token of the OpenID provider, which the gateway has verified. */
export class AdmitUserRequest {
  /** Claim `iss`. */
  @IsString() @Length(1, 2000) issuer: string;
  /** Claim `sub`. */
  @IsString() @Length(1, 1000) subject: string;
  @Optional() @IsString() @MaxLength(1000) email?: string;
  @Optional() @IsBoolean() emailVerified?: boolean;
  @Optional() @IsString() @MaxLength(1000) name?: string;
}
export class AdmittedUser {
  userId: string;
}
export const admitUser = defineOperation({
  name: 'management.admit-user',
  summary: 'Map a person of the OpenID provider to a user, who is registered with the first call',
  access: calledBy('gateway'),
  kind: 'command',
  body: AdmitUserRequest,
  response: AdmittedUser,
});
