import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { DirectoryAnswer, lookUpTenant, OperationContext } from '@attestry/contracts';
import type { RequestOf } from '@attestry/service-kit';
import { TenantDirectory, type LivingTenant } from '../directory/tenant-directory.js';
import { secretIdOf } from '../issue-token/secret-id.js';

export class LookUpTenant {
  constructor(
    readonly request: RequestOf<typeof lookUpTenant>,
    readonly context: OperationContext,
  ) {}
}

/** Answers for living tenants only; with both a host and an id given, for the tenant that has both. */
@QueryHandler(LookUpTenant)
export class LookUpTenantHandler implements IQueryHandler<LookUpTenant> {
  constructor(private readonly directory: TenantDirectory) {}

  async execute({ request }: LookUpTenant): Promise<DirectoryAnswer> {
    const { host, tenantId: id } = request.body;
    const found =
      host !== undefined
        ? await this.directory.byHost(host)
        : id !== undefined
          ? await this.directory.byId(id)
          : undefined;
    if (!found || (id !== undefined && found.tenant.id !== id)) return {};
    return { tenant: describe(found) };
  }
}

const describe = ({ tenant, host }: LivingTenant) => ({
  tenantId: tenant.id,
  environmentId: tenant.environmentId,
  host,
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
