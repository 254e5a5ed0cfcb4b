import { defineIntegrationEvent } from '../integration-event.js';
import type { Role } from '../roles.js';

export interface TenantCreatedData {
  tenantId: string;
  environmentId: string;
  name: string;
  /** Canonical host. */
  host: string;
}
export const tenantCreated = defineIntegrationEvent<TenantCreatedData>('management.tenant-created');
export const tenantDeleted = defineIntegrationEvent<{ tenantId: string; host: string }>('management.tenant-deleted');
export const clientCreated = defineIntegrationEvent<{ tenantId: string; clientId: string; roles: Role[] }>(
  'management.client-created',
);
export const clientRolesChanged = defineIntegrationEvent<{ tenantId: string; clientId: string; roles: Role[] }>(
  'management.client-roles-changed',
);
export const clientDeleted = defineIntegrationEvent<{ tenantId: string; clientId: string }>(
  'management.client-deleted',
);
