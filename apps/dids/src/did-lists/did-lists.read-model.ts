import { Injectable } from '@nestjs/common';
import type { ListedDid, PageOf, PageQuery } from '@attestry/contracts';
import { Macs } from '@attestry/keys';
import { ReadModels } from '@attestry/read-model';
import { Health, listPage, ReadModel } from '@attestry/service-kit';
import type { DidKey } from '../did/did.events.js';
import { listedDid } from '../did/did-view.js';
import type { LinkedDid } from '../domain-linkage/domain-linkage.js';
import { didLists, type DidListTables } from './did-lists.projection.js';

/** Candidates fetched at once when a DID is chosen. */
const CANDIDATES = 20;

const COLUMN = { 'P-256': 'signs_p256', Ed25519: 'signs_ed25519' } as const;

@Injectable()
export class DidListsReadModel extends ReadModel<DidListTables> {
  constructor(
    readModels: ReadModels,
    health: Health,
    private readonly macs: Macs,
  ) {
    super(readModels, health, didLists);
  }

  /** The tenant's DIDs, oldest first. @throws InvalidCursor */
  async dids(tenantId: string, request: PageQuery): Promise<PageOf<ListedDid>> {
    const query = this.running.db
      .selectFrom('did')
      .where('tenant_id', '=', tenantId)
      .select(['did', 'id', 'created_at', 'registered', 'keys', 'document']);
    const rows = await listPage(query, request, this.macs, ['dids', tenantId], {
      contents: ['did', 'keys', 'document'],
    });
    return {
      ...rows,
      data: rows.data.map(({ did, keys, registered, document }) =>
        listedDid({
          did,
          keys: JSON.parse(keys) as DidKey[],
          registered: Number(registered),
          document: JSON.parse(document) as Record<string, unknown>,
        }),
      ),
    };
  }

  /** The tenant's newest DIDs, newest first, for domain linkage. */
  async linkedDids(tenantId: string, limit: number): Promise<LinkedDid[]> {
    const rows = await this.running.db
      .selectFrom('did')
      .where('tenant_id', '=', tenantId)
      .select(['did', 'registered', 'keys'])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .limit(limit)
      .execute();
    return rows.map(({ did, registered, keys }) => ({
      did,
      registered: Number(registered),
      keys: JSON.parse(keys) as DidKey[],
    }));
  }

  /**
   * DIDs of the tenant, of one method if it is given, that can sign with one of the algorithms: first the one that the configuration already
   * holds, then oldest first. The projection may lag; the stream decides.
   */
  async *issuers(
    tenantId: string,
    configurationId: string,
    algorithms: readonly (keyof typeof COLUMN)[],
    method?: 'web',
  ) {
    await this.running.ownWrites();
    const { db } = this.running;
    const held = await db
      .selectFrom('did_reservation')
      .where('tenant_id', '=', tenantId)
      .where('configuration_id', '=', configurationId)
      .select('did')
      .execute();
    for (const { did } of held) yield did;
    const columns = algorithms.map((algorithm) => COLUMN[algorithm]);
    if (columns.length === 0) return;
    let candidates = db
      .selectFrom('did')
      .where('tenant_id', '=', tenantId)
      .where((where) => where.or(columns.map((column) => where(column, '=', 1))));
    if (method !== undefined) candidates = candidates.where('did', 'like', `did:${method}:%`);
    for (let offset = 0; ; offset += CANDIDATES) {
      const rows = await candidates
        .select('did')
        .orderBy('created_at')
        .orderBy('id')
        .limit(CANDIDATES)
        .offset(offset)
        .execute();
      for (const { did } of rows) yield did;
      if (rows.length < CANDIDATES) return;
    }
  }
}
