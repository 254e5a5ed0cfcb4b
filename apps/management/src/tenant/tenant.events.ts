import type { Role } from '@attestry/contracts';
import type { SecretMac } from '@attestry/keys';

/**
 * A tenant with its clients and memberships. The first append holds the tenant, the membership of the management client
 * that made it, and its default client (decision 8). Secrets stand here only as their MAC, bound to the client id.
 */
export type TenantEvent =
  | {
      type: 'TenantCreated';
      data: {
        tenantId: string;
        environmentId: string;
        name: string;
        subdomain: string;
        /** As it was then; the host of today follows from the environment's domain. */
        host: string;
        createdAt: string;
      };
    }
  | { type: 'MachineMembershipGranted'; data: { tenantId: string; managementClientId: string; roles: Role[] } }
  | {
      type: 'TenantClientCreated';
      data: {
        tenantId: string;
        clientId: string;
        name: string;
        roles: Role[];
        secretMac: SecretMac;
        createdAt: string;
      };
    }
  | { type: 'TenantClientDeleted'; data: { tenantId: string; clientId: string } }
  | { type: 'TenantDeleted'; data: { tenantId: string; environmentId: string; subdomain: string; host: string } };
