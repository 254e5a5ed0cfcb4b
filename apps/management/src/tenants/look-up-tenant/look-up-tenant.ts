import { lookUpTenant, type DirectoryAnswer } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import { TenantDirectory, type TenantEntry } from '../directory/tenant-directory.js';
import { secretIdOf } from '../../platform/client-credentials/secret-id.js';

/** Finds active tenants; with both a host and an id given, the tenant that has both. With a host alone also a deleted one. */
@Operation(lookUpTenant)
export class LookUpTenant {
  constructor(private readonly directory: TenantDirectory) {}

  async execute(request: RequestOf<typeof lookUpTenant>): Promise<DirectoryAnswer> {
    const { host, tenantId: id } = request.body;
    const found =
      host !== undefined
        ? await this.directory.byHost(host)
        : id !== undefined
          ? await this.directory.byId(id)
          : undefined;
    if (!found && host !== undefined && id === undefined) {
      const ended = await this.directory.endedByHost(host);
      return ended ? { ended } : {};
    }
    if (!found || (id !== undefined && found.tenant.id !== id)) return {};
    return { tenant: entryView(found) };
  }
}

const entryView = ({ tenant, host }: TenantEntry) => ({
  tenantId: tenant.id,
  host,
  name: tenant.name,
  restrictIdentityRoles: tenant.restrictIdentityRoles,
  clients: [...tenant.clients].map(([clientId, { roles, secretMac, previous }]) => ({
    clientId,
    roles,
    secrets: [
      { id: secretIdOf(secretMac) },
      ...(previous ? [{ id: secretIdOf(previous.secretMac), expiresAt: previous.expiresAt }] : []),
    ],
  })),
});
