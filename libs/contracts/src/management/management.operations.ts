import { IsBoolean, IsInt, IsString, Length, Matches, Max, MaxLength, Min } from 'class-validator';
import { AnalyticsEvent, ListEventsQuery } from '../analytics/analytics.operations.js';
import { SUBDOMAIN_PATTERN } from '../identifiers.js';
import { calledBy, defineOperation, managementAccess, publicAccess } from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Permission, Role } from '../roles.js';
import { ClientId, Email, BoundedJson, Name, Optional, Roles, Uuid } from '../validators.js';

export class Region {
  id: string;
  /** Lower case, for example `local`. */
  name: string;
  displayName: string;
}

export class Environment {
  id: string;
  name: string;
  /** Tenants live at `<subdomain>.<domain>`. */
  domain: string;
  authorizationServerDomain: string;
  deploymentModel: string;
  region: Region;
}

export class TenantParams {
  @Uuid() tenantId: string;
}

const SUBDOMAIN_FAULT = 'must have 3 to 63 characters a-z, 0-9 and hyphens, and neither start nor end with a hyphen';

export class CreateTenantRequest {
  /** Friendly name; default: the subdomain. */
  @Optional() @Name() name?: string;

  @IsString({ message: 'must be a string' })
  @Matches(SUBDOMAIN_PATTERN, { message: SUBDOMAIN_FAULT })
  @MaxLength(63, { message: SUBDOMAIN_FAULT })
  subdomain: string;

  @Uuid() environmentId: string;
}

export class Membership {
  /** Roles of the caller in the tenant. */
  roles: Role[];
}

export class ClientCredentials {
  clientId: string;
  /** Shown once. */
  clientSecret: string;
}

export class Tenant {
  id: string;
  name: string;
  /** The full tenant host. */
  subdomain: string;
  environmentId: string;
  environment: Environment;
  /** Only clients with the role `admin` or `issuer` may change custom domain, DIDs and authentication provider. */
  restrictIdentityRoles: boolean;
  membership: Membership;
}

export class CreatedTenant extends Tenant {
  /** The default client, role `admin`. */
  client: ClientCredentials;
}

export class CreateClientRequest {
  @Name() name: string;
  @Roles() roles: Role[];
}

/** Both as they shall be. */
export class UpdateClientRequest {
  @Name() name: string;
  @Roles() roles: Role[];
}

export class Client {
  clientId: string;
  name: string;
  roles: Role[];
  permissions: Permission[];
}

export class CreatedClient extends Client {
  /** 64 characters, shown once. */
  clientSecret: string;
}

/** Longest time that two secrets of a client are good, seconds: 7 days. */
export const MAX_SECRET_OVERLAP_SECONDS = 604_800;

export class RotateClientSecretRequest {
  /** How long the secret before stays good; 0 ends it at once. Default: a day, or as the operator set it. */
  @Optional()
  @IsInt({ message: 'must be an integer' })
  @Min(0, { message: 'must not be negative' })
  @Max(MAX_SECRET_OVERLAP_SECONDS, { message: `must be at most ${MAX_SECRET_OVERLAP_SECONDS}` })
  overlapSeconds?: number;
}

export class RotatedClientSecret extends ClientCredentials {
  /** Until when the secret before is good too; absent when it has ended. */
  previousSecretExpiresAt?: string;
}

export class ClientParams extends TenantParams {
  @ClientId() clientId: string;
}

/** All strings; checked by hand in the service, for the faults too are told in OAuth shape. */
export class TokenRequest {
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
  @Optional() @BoundedJson() audience?: string;
  @Optional() @BoundedJson() grant_type?: string;
}

export class TokenResponse {
  access_token: string;
  /** Seconds. */
  expires_in: number;
  token_type: 'Bearer';
}

export class JwkSet {
  keys: Record<string, unknown>[];
}

export const issueToken = defineOperation({
  name: 'management.issue-token',
  summary: 'Issue an access token to a management client or a tenant client',
  http: { method: 'POST', path: '/oauth/token', success: 200, hosts: ['auth', 'management'], maxBodyBytes: 16_384 },
  access: publicAccess,
  rate: 'client-token',
  errors: 'oauth',
  body: TokenRequest,
  response: TokenResponse,
  secrets: ['client_secret'],
  errorStatuses: [400, 401, 429],
});

/** All strings, as form parameters; checked by hand in the service, so that faults have the OAuth shape. */
export class RevokeTokenRequest {
  /** The access token that ends. */
  @Optional() @BoundedJson() token?: string;
  /** Ignored: there is one type of token. */
  @Optional() @BoundedJson() token_type_hint?: string;
  @Optional() @BoundedJson() client_id?: string;
  @Optional() @BoundedJson() client_secret?: string;
}

/** No members: RFC 7009 §2.2 gives the body of the answer no meaning. */
export class RevokedToken {}

/** RFC 7009. */
export const revokeToken = defineOperation({
  name: 'management.revoke-token',
  summary: "Revoke a client's own access token; also 200 for a token that is unknown, expired or another client's",
  http: { method: 'POST', path: '/oauth/revoke', success: 200, hosts: ['auth'], body: 'form', maxBodyBytes: 16_384 },
  access: publicAccess,
  rate: 'client-token',
  errors: 'oauth',
  body: RevokeTokenRequest,
  response: RevokedToken,
  secrets: ['client_secret', 'token'],
  errorStatuses: [400, 401, 413, 415, 429],
});

export const retrieveTokenKeys = defineOperation({
  name: 'management.retrieve-token-keys',
  summary: 'Key set that verifies client access tokens',
  http: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    success: 200,
    hosts: ['auth'],
    cacheControl: 'public, max-age=300',
  },
  access: publicAccess,
  errors: 'tenant',
  response: JwkSet,
});

export const listEnvironments = defineOperation({
  name: 'management.list-environments',
  summary: 'Retrieve environments',
  http: { method: 'GET', path: '/v1/environments', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'ENVIRONMENT_RETRIEVE_LIST', category: 'environment' },
  errors: 'management',
  query: PageQuery,
  response: [Environment],
  errorStatuses: [400, 401],
});

export const createTenant = defineOperation({
  name: 'management.create-tenant',
  summary: 'Create a tenant with its default client',
  http: { method: 'POST', path: '/v1/tenants', success: 201, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CREATE', category: 'tenant', tenantFrom: 'answer' },
  errors: 'management',
  body: CreateTenantRequest,
  response: CreatedTenant,
  errorStatuses: [400, 401, 503],
  idempotent: true,
});

export const listTenants = defineOperation({
  name: 'management.list-tenants',
  summary: "Retrieve the caller's tenants",
  http: { method: 'GET', path: '/v1/tenants', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_RETRIEVE_LIST', category: 'tenant' },
  errors: 'management',
  query: PageQuery,
  response: [Tenant],
  errorStatuses: [400, 401],
});

export const retrieveTenant = defineOperation({
  name: 'management.retrieve-tenant',
  summary: 'Retrieve a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_RETRIEVE', category: 'tenant', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  response: Tenant,
  errorStatuses: [400, 401, 404],
});

/** At least one of them; what is absent stays as it is. */
export class UpdateTenantRequest {
  @Optional() @Name() name?: string;

  /**
   * Whether only clients with the role `admin` or `issuer` may change the custom domain, DIDs and authentication provider. Takes
   * effect within a second, also for tokens issued before.
   */
  @Optional()
  @IsBoolean({ message: 'must be a boolean' })
  restrictIdentityRoles?: boolean;
}

export const updateTenant = defineOperation({
  name: 'management.update-tenant',
  summary: 'Change the name of a tenant, or which roles may change its identity; its subdomain stays',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_UPDATE', category: 'tenant', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  body: UpdateTenantRequest,
  response: Tenant,
  errorStatuses: [400, 401, 403, 404],
});

export const deleteTenant = defineOperation({
  name: 'management.delete-tenant',
  summary: 'Delete a tenant',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId', success: 204, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_DELETE', category: 'tenant', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  errorStatuses: [400, 401, 403, 404],
});

export const createClient = defineOperation({
  name: 'management.create-client',
  summary: 'Create a client of a tenant',
  http: { method: 'POST', path: '/v1/tenants/:tenantId/clients', success: 201, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_CREATE', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  body: CreateClientRequest,
  response: CreatedClient,
  errorStatuses: [400, 401, 403, 404, 503],
  idempotent: true,
});

export const listClients = defineOperation({
  name: 'management.list-clients',
  summary: 'Retrieve the clients of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/clients', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_RETRIEVE_LIST', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  query: PageQuery,
  response: [Client],
  errorStatuses: [400, 401, 403, 404],
});

export const retrieveClient = defineOperation({
  name: 'management.retrieve-client',
  summary: 'Retrieve a client of a tenant',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/clients/:clientId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_RETRIEVE', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: ClientParams,
  response: Client,
  errorStatuses: [400, 401, 403, 404],
});

export const updateClient = defineOperation({
  name: 'management.update-client',
  summary: 'Rename a client of a tenant, change its roles; new roles count at once, for tokens it has too',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId/clients/:clientId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_UPDATE', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: ClientParams,
  body: UpdateClientRequest,
  response: Client,
  errorStatuses: [400, 401, 403, 404],
});

export const rotateClientSecret = defineOperation({
  name: 'management.rotate-client-secret',
  summary: 'Give a client of a tenant a new secret; the one before stays good for a while',
  http: {
    method: 'POST',
    path: '/v1/tenants/:tenantId/clients/:clientId/secret',
    success: 201,
    hosts: ['management'],
  },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_SECRET_ROTATE', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: ClientParams,
  body: RotateClientSecretRequest,
  response: RotatedClientSecret,
  errorStatuses: [400, 401, 403, 404],
  idempotent: true,
});

export const deleteClient = defineOperation({
  name: 'management.delete-client',
  summary: 'Delete a client of a tenant; its tokens end at once',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/clients/:clientId', success: 204, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_CLIENT_DELETE', category: 'tenant-client', tenantFrom: 'params' },
  errors: 'management',
  params: ClientParams,
  errorStatuses: [400, 401, 403, 404, 503],
});

export class PricingPlan {
  type: string;
  /** Absent: no end. */
  endDate?: string;
}

/** The person who calls. */
export class UserInformation {
  id: string;
  /** Empty while no provider has vouched for one. */
  email: string;
  name: string;
  pricingPlan: PricingPlan;
  /** `Active` */
  status: string;
}

export class UpdateUserInformationRequest {
  @Name() name: string;
}

export const retrieveUserInformation = defineOperation({
  name: 'management.retrieve-user-information',
  summary: 'Retrieve user information of the caller',
  http: { method: 'GET', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'USER_USERINFO_RETRIEVE', category: 'user' },
  errors: 'management',
  response: UserInformation,
  errorStatuses: [401, 403],
});

export const updateUserInformation = defineOperation({
  name: 'management.update-user-information',
  summary: 'Update user information of the caller',
  http: { method: 'PUT', path: '/v1/userinfo', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'USER_USERINFO_UPDATE', category: 'user' },
  errors: 'management',
  body: UpdateUserInformationRequest,
  response: UserInformation,
  errorStatuses: [400, 401, 403],
});

/** Derived on read: an invitation that was not accepted in time is `Expired`. */
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
  /** The user's id. */
  id: string;
  email: string;
  name: string;
  status: MemberStatus;
  roles: Role[];
  /** Absent for who was never invited: the person who made the tenant. */
  inviteExpiresAt?: string;
}

export class MemberParams extends TenantParams {
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

export const inviteMember = defineOperation({
  name: 'management.invite-member',
  summary: 'Invite a tenant member',
  http: { method: 'POST', path: '/v1/tenants/:tenantId/invitations', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_CREATE', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  body: InviteMemberRequest,
  response: InvitationResult,
  errorStatuses: [400, 401, 403, 404],
  idempotent: true,
});

export class Invitation {
  userId: string;
  email: string;
  /** `Pending` or `Expired` */
  status: MemberStatus;
  roles: Role[];
  inviteExpiresAt: string;
}

export const listInvitations = defineOperation({
  name: 'management.list-invitations',
  summary: 'Retrieve the invitations of a tenant that nobody has accepted',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/invitations', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_RETRIEVE_LIST', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  query: PageQuery,
  response: [Invitation],
  errorStatuses: [400, 401, 403, 404],
});

export const resendInvitation = defineOperation({
  name: 'management.resend-invitation',
  summary: 'Send an invitation again, with a new link; the old one is dead at once',
  http: {
    method: 'POST',
    path: '/v1/tenants/:tenantId/invitations/:userId/resend',
    success: 200,
    hosts: ['management'],
    body: 'none',
  },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_RESEND', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: MemberParams,
  response: InvitationResult,
  errorStatuses: [400, 401, 403, 404],
});

export const cancelInvitation = defineOperation({
  name: 'management.cancel-invitation',
  summary: 'Cancel an invitation that nobody has accepted; its link is dead at once',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/invitations/:userId', success: 204, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_CANCEL', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: MemberParams,
  errorStatuses: [400, 401, 403, 404],
});

export const listMembers = defineOperation({
  name: 'management.list-members',
  summary: 'Retrieve tenant members',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/members', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_RETRIEVE_LIST', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: TenantParams,
  query: PageQuery,
  response: [Member],
  errorStatuses: [400, 401, 403, 404],
});

export const retrieveMember = defineOperation({
  name: 'management.retrieve-member',
  summary: 'Retrieve a tenant member',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/members/:userId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_RETRIEVE', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: MemberParams,
  response: Member,
  errorStatuses: [400, 401, 403, 404],
});

export const updateMembership = defineOperation({
  name: 'management.update-membership',
  summary: 'Update a tenant membership',
  http: { method: 'PUT', path: '/v1/tenants/:tenantId/memberships/:userId', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBERSHIP_UPDATE', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: MemberParams,
  body: UpdateMembershipRequest,
  response: MembershipUpdate,
  errorStatuses: [400, 401, 403, 404],
});

export const deleteMembership = defineOperation({
  name: 'management.delete-membership',
  summary: 'Delete a tenant membership; its rights end at once',
  http: { method: 'DELETE', path: '/v1/tenants/:tenantId/memberships/:userId', success: 204, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBERSHIP_DELETE', category: 'tenant-member', tenantFrom: 'params' },
  errors: 'management',
  params: MemberParams,
  errorStatuses: [400, 401, 403, 404],
});

export class AcceptInvitationRequest {
  /** From the link of the e-mail. */
  @IsString({ message: 'must be a string' }) @Length(1, 300, { message: 'Invalid value' }) token: string;
}

export const acceptInvitation = defineOperation({
  name: 'management.accept-invitation',
  summary: 'Accept an invitation as the person who calls',
  http: { method: 'POST', path: '/v1/invitations/accept', success: 200, hosts: ['management'] },
  access: managementAccess,
  analytics: { prefix: 'TENANT_MEMBER_INVITATION_ACCEPT', category: 'tenant-member' },
  errors: 'management',
  body: AcceptInvitationRequest,
  response: MembershipUpdate,
  secrets: ['token'],
  errorStatuses: [400, 401, 403],
});

/** The tenant's trail as its own API tells it, for people who have no client there. Asked of analytics by management. */
export const listTenantEvents = defineOperation({
  name: 'management.list-tenant-events',
  summary: "Retrieve a tenant's analytics events, newest first",
  http: { method: 'GET', path: '/v1/tenants/:tenantId/events', success: 200, hosts: ['management'] },
  access: managementAccess,
  // Not in the tenant's own trail, which would grow by being looked at.
  analytics: { prefix: 'TENANT_EVENT_RETRIEVE_LIST', category: 'tenant' },
  errors: 'management',
  params: TenantParams,
  query: ListEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400, 401, 403, 404, 503],
});

/** What the gateway's tenant directory asks on a miss (ADR 0056). */
export class LookUpTenantRequest {
  /** Canonical host, or a tenant id. */
  @Optional() @IsString() @MaxLength(300) host?: string;
  @Optional() @Uuid() tenantId?: string;
}

export class DirectorySecret {
  /** As in the claim `secret_id` of tokens. */
  id: string;
  /** Of a secret that was rotated away: when its overlap ends. */
  expiresAt?: string;
}

export class DirectoryTenant {
  tenantId: string;
  environmentId: string;
  /** Canonical host. */
  host: string;
  restrictIdentityRoles: boolean;
  /** Clients that exist, with their roles and the secrets whose tokens are valid. */
  clients: { clientId: string; roles: Role[]; secrets?: DirectorySecret[] }[];
}

export class DirectoryAnswer {
  /** Absent when there is no such living tenant. */
  tenant?: DirectoryTenant;
}

export const lookUpTenant = defineOperation({
  name: 'management.look-up-tenant',
  summary: "Resolve a host or a tenant id for the gateway's directory",
  access: calledBy('gateway'),
  kind: 'query',
  errors: 'tenant',
  body: LookUpTenantRequest,
  response: DirectoryAnswer,
});

export class LookUpManagementClientRequest {
  @IsString() @Length(1, 128) clientId: string;
}
export class ManagementClientAnswer {
  exists: boolean;
  /** Of the secret whose tokens are valid; as in the claim `secret_id` of tokens. */
  secretId?: string;
}
export const lookUpManagementClient = defineOperation({
  name: 'management.look-up-management-client',
  summary: 'Tell whether a management client exists',
  access: calledBy('gateway'),
  kind: 'query',
  errors: 'tenant',
  body: LookUpManagementClientRequest,
  response: ManagementClientAnswer,
});

export class LookUpTokenRequest {
  /** `jti` of a token whose signature was verified. */
  @IsString() @Length(1, 128) tokenId: string;
}
export class TokenAnswer {
  isRevoked: boolean;
}
export const lookUpToken = defineOperation({
  name: 'management.look-up-token',
  summary: 'Tell whether an access token of a client was revoked',
  access: calledBy('gateway'),
  kind: 'query',
  errors: 'tenant',
  body: LookUpTokenRequest,
  response: TokenAnswer,
});

/** A person as an OpenID provider tells of them in an access token that the gateway has verified. */
export class AdmitUserRequest {
  @IsString() @Length(1, 2000) issuer: string;
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
  summary: 'Map a person of an OpenID provider to a user, who is registered at the first sight',
  access: calledBy('gateway'),
  kind: 'command',
  errors: 'tenant',
  body: AdmitUserRequest,
  response: AdmittedUser,
});
