import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { DidConfiguration, OperationContext, retrieveDidConfiguration, TenantContext } from '@attestry/contracts';
import { DID_CONFIGURATION_V1 } from '@attestry/linked-data';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { LinkageCredentials } from '../domain-linkage/linkage-credentials.js';

export class RetrieveDidConfiguration {
  constructor(
    readonly request: RequestOf<typeof retrieveDidConfiguration>,
    readonly context: OperationContext,
  ) {}
}

/** Most DIDs of one document, which has no pages: its 2 MB still fit into one message. */
const MAX_DIDS = 1000;

/** Origins that the tenant's DIDs vouch for. */
const originsOf = (tenant: TenantContext): string[] => [new URL(tenant.baseUrl).origin];

/** DIF Well Known DID Configuration, section DID Configuration Resource. */
@QueryHandler(RetrieveDidConfiguration)
export class RetrieveDidConfigurationHandler implements IQueryHandler<RetrieveDidConfiguration> {
  constructor(
    private readonly lists: DidListsReadModel,
    private readonly linkage: LinkageCredentials,
  ) {}

  async execute({ context }: RetrieveDidConfiguration): Promise<DidConfiguration> {
    const tenant = tenantOf(context);
    const dids = await this.lists.linkedDids(tenant.id, MAX_DIDS);
    const entries = await this.linkage.entries(tenant.id, dids, originsOf(tenant));
    return { '@context': DID_CONFIGURATION_V1, entries, linked_dids: entries };
  }
}
