import type { Environment, Role, Tenant } from '@attestry/contracts';

/** The tenant as the management API shows it to one of its members. */
export const tenantView = (
  tenant: { id: string; name: string; restrictIdentityRoles: boolean },
  host: string,
  environment: Environment,
  roles: Role[],
): Tenant => ({
  id: tenant.id,
  name: tenant.name,
  subdomain: host,
  environmentId: environment.id,
  environment,
  restrictIdentityRoles: tenant.restrictIdentityRoles,
  membership: { roles },
});
