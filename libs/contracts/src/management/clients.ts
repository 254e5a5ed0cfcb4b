import { IsInt, Max, Min } from 'class-validator';
import { defineOperation, memberWith } from '../operation.js';
import { PageQuery } from '../pagination.js';
import type { Permission, Role } from '../roles.js';
import { ClientId, Name, Optional, Roles } from '../validators.js';
import { ClientCredentials } from './client-credentials.js';
import { TenantParams } from './tenants.js';

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
