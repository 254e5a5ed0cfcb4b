import { IsBoolean, IsString, Matches, MaxLength } from 'class-validator';
import { AnalyticsEvent, ListEventsQuery } from '../analytics/analytics.operations.js';
import { SUBDOMAIN_FAULT, SUBDOMAIN_PATTERN } from '../identifiers.js';
import { defineOperation, managementAccess, memberAccess, memberWith } from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Role } from '../roles.js';
import { Name, Optional, Uuid } from '../validators.js';
import { ClientCredentials } from './client-credentials.js';
import { Environment } from './environments.js';

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

/** The events of the tenant API's `GET /v1/events`, for members without a client of the tenant. Management queries analytics. */
export const listTenantEvents = defineOperation({
  name: 'management.list-tenant-events',
  summary: 'Retrieve the analytics events of a tenant, newest first',
  http: { method: 'GET', path: '/v1/tenants/:tenantId/events', success: 200, hosts: ['management'] },
  access: memberWith('analytics:read'),
  // Not listed in the tenant's own events, which would grow with every query.
  analytics: { prefix: 'TENANT_EVENT_RETRIEVE_LIST', category: 'tenant' },
  params: TenantParams,
  query: ListEventsQuery,
  response: [AnalyticsEvent],
  errorStatuses: [400, 404, 503],
});
