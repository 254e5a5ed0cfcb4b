import { retrieveDidConfiguration, type ContextOf, type DidConfiguration } from '@attestry/contracts';
import { DID_CONFIGURATION_V1 } from '@attestry/linked-data';
import { Operation } from '@attestry/service-kit';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { LinkageCredentials } from '../domain-linkage/linkage-credentials.js';
import { originsAt } from '../linked-domain/linked-domain.decisions.js';
import { LinkedDomain } from '../linked-domain/linked-domain.directory.js';

/** Most entries of one document, which is not paged: its 4 MB at most still fit into one message. */
const MAX_ENTRIES = 1000;

/** DIF Well Known DID Configuration, section DID Configuration Resource. */
@Operation(retrieveDidConfiguration)
export class RetrieveDidConfiguration {
  constructor(
    private readonly lists: DidListsReadModel,
    private readonly linkage: LinkageCredentials,
    private readonly domain: LinkedDomain,
  ) {}

  async execute(_request: unknown, context: ContextOf<typeof retrieveDidConfiguration>): Promise<DidConfiguration> {
    const { tenant } = context;
    const { publicUrl } = context;
    const origins = originsAt({ publicUrl, baseUrl: tenant.baseUrl }, await this.domain.loadLinkedDomain(tenant.id));
    const dids = await this.lists.linkedDids(tenant.id, Math.floor(MAX_ENTRIES / origins.length));
    const entries = await this.linkage.entries(tenant.id, dids, origins);
    return { '@context': DID_CONFIGURATION_V1, entries, linked_dids: entries };
  }
}
