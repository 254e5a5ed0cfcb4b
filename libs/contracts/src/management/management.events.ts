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
/** Its keys are destroyed; whoever has rows of it removes them. */
export const tenantPurged = defineIntegrationEvent<{ tenantId: string }>('management.tenant-purged');
export const clientCreated = defineIntegrationEvent<{ tenantId: string; clientId: string; roles: Role[] }>(
  'management.client-created',
);
export const clientDeleted = defineIntegrationEvent<{ tenantId: string; clientId: string }>(
  'management.client-deleted',
);
