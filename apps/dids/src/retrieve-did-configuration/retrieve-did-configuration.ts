import {
  retrieveDidConfiguration,
  type ContextOf,
  type DidConfiguration,
  type DomainLinkageCredential,
} from '@attestry/contracts';
import { DID_CONFIGURATION_V1 } from '@attestry/linked-data';
import { frozenData, Operation, type RequestOf } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { DidListsReadModel } from '../did-lists/did-lists.read-model.js';
import { LinkageCredentials } from '../domain-linkage/linkage-credentials.js';
import { originsAt } from '../linked-domain/linked-domain.decisions.js';
import { LinkedDomain } from '../linked-domain/linked-domain.directory.js';

/** Most entries of one document, which is not paged: its 4 MB at most still fit into one message. */
const MAX_ENTRIES = 1000;

const DIF_PATH = '/.well-known/did-configuration.json';

/** Entries of all documents that are kept. */
const MAX_KEPT = 10_000;

interface Made {
  entries: readonly DomainLinkageCredential[];
  document: DidConfiguration;
}

/** DIF Well Known DID Configuration, section DID Configuration Resource, which allows no members but its own. `entries` is of the reference path. */
@Operation(retrieveDidConfiguration)
export class RetrieveDidConfiguration {
  /** By tenant, address and path: the same object as long as its entries are, so that it is made text once. */
  private readonly made = new LRUCache<string, Made>({
    maxSize: MAX_KEPT,
    sizeCalculation: ({ entries }) => entries.length + 1,
  });

  constructor(
    private readonly lists: DidListsReadModel,
    private readonly linkage: LinkageCredentials,
    private readonly domain: LinkedDomain,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveDidConfiguration>,
    { tenant, publicUrl }: ContextOf<typeof retrieveDidConfiguration>,
  ): Promise<DidConfiguration> {
    const isOfDif = request.raw?.url.split('?', 1)[0] === DIF_PATH;
    const origins = originsAt({ publicUrl, baseUrl: tenant.baseUrl }, await this.domain.loadLinkedDomain(tenant.id));
    const dids = await this.lists.linkedDids(tenant.id, Math.floor(MAX_ENTRIES / origins.length));
    const entries = await this.linkage.entries(tenant.id, dids, origins);
    const key = `${tenant.id} ${publicUrl} ${isOfDif}`;
    const known = this.made.get(key);
    if (known?.entries.length === entries.length && entries.every((entry, at) => entry === known.entries[at]))
      return known.document;
    const document = frozenData({
      '@context': DID_CONFIGURATION_V1,
      ...(!isOfDif && { entries }),
      linked_dids: entries,
    });
    this.made.set(key, { entries, document });
    return document;
  }
}
