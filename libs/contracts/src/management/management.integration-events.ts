import { defineIntegrationEvent } from '../integration-event.js';
import type { Role } from '../roles.js';
import type { MemberStatus } from './members.js';

export interface TenantCreatedData {
  tenantId: string;
  environmentId: string;
  name: string;
  /** Canonical host. */
  host: string;
}
export const tenantCreated = defineIntegrationEvent<TenantCreatedData>('management.tenant-created');
export const tenantDeleted = defineIntegrationEvent<{ tenantId: string; host: string }>('management.tenant-deleted');
/** The tenant's keys are destroyed; services remove its rows from their read models. */
export const tenantPurged = defineIntegrationEvent<{ tenantId: string }>('management.tenant-purged');
export const tenantRenamed = defineIntegrationEvent<{ tenantId: string; name: string }>('management.tenant-renamed');
export const identityRolesRestrictionChanged = defineIntegrationEvent<{
  tenantId: string;
  restrictIdentityRoles: boolean;
}>('management.identity-roles-restriction-changed');
export const clientCreated = defineIntegrationEvent<{ tenantId: string; clientId: string; roles: Role[] }>(
  'management.client-created',
);
export const clientRolesChanged = defineIntegrationEvent<{ tenantId: string; clientId: string; roles: Role[] }>(
  'management.client-roles-changed',
);
export const clientDeleted = defineIntegrationEvent<{ tenantId: string; clientId: string }>(
  'management.client-deleted',
);
/** A secret is no longer valid, or will not be after its overlap; its tokens end with it. */
export const clientSecretRotated = defineIntegrationEvent<{ tenantId: string; clientId: string }>(
  'management.client-secret-rotated',
);
/** `tokenId` is the `jti` of the token; the revocation need not be kept after `expiresAt` (RFC 3339). */
export const tokenRevoked = defineIntegrationEvent<{ tokenId: string; clientId: string; expiresAt: string }>(
  'management.token-revoked',
);
/** `Active` for a registered user, who becomes a member immediately. Published again for each new link. */
export const memberInvited = defineIntegrationEvent<{
  tenantId: string;
  userId: string;
  roles: Role[];
  status: MemberStatus;
  inviteExpiresAt: string;
}>('management.member-invited');
