import { IsString, Length, MaxLength } from 'class-validator';
import { calledBy, defineOperation } from '../operation.js';
import type { Role } from '../roles.js';
import { Optional, Uuid } from '../validators.js';

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
