import { permissionsOf, type TenantClient, type Role } from '@attestry/contracts';

/** The client as the management API shows it, without its secret. */
export const clientView = (clientId: string, { name, roles }: { name: string; roles: Role[] }): TenantClient => ({
  clientId,
  name,
  roles,
  permissions: permissionsOf(roles),
});
