import { Injectable } from '@nestjs/common';
import { readEvent, StaleEpoch, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { ListKey } from './status-lists.read-model.js';
import { shardOf } from './shard-of.js';
import { mediaTypeOfToken } from './sign-status-list.js';
import { statusList } from './status-list.state.js';

export interface PublishedListTables {
  issuance_status_list_tokens: {
    tenant_id: string;
    list_id: string;
    shard: number;
    media_type: string;
    /** When another one is to be signed. */
    due_at: string;
    token: string | null;
    etag: string | null;
    /** Of the lease under which it was signed. */
    epoch: number;
  };
}

/** What the endpoint serves. */
export interface PublishedToken {
  mediaType: string;
  /** Null until the first one is signed. */
  token: string | null;
  etag: string | null;
}

/**
 * The published token of each list. The events only make and delete rows; the publisher writes the tokens. Apart from the statuses, so that
 * tokens continue to be served while those are rebuilt.
 */
export const publishedLists: Projection<PublishedListTables> = purgingTenants('issuance', {
  name: 'issuance.status-list-tokens',
  version: 1,
  categories: [statusList.category],
  types: Object.keys(statusList.types),
  tables: ['issuance_status_list_tokens'],
  async create(db) {
    await createTable(db, 'issuance_status_list_tokens', {
      text: ['tenant_id', 'list_id', 'media_type', 'due_at'],
      nullableText: ['token', 'etag'],
      integer: ['shard', 'epoch'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: { issuance_status_list_tokens_by_due: ['shard', 'due_at'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    const opened: PublishedListTables['issuance_status_list_tokens'][] = [];
    for (const stored of events) {
      const { type, data } = readEvent(statusList, stored);
      if (type !== 'StatusListOpened') continue;
      opened.push({
        tenant_id: stored.metadata.tenantId,
        list_id: data.listId,
        shard: shardOf(data.listId),
        media_type: mediaTypeOfToken(data.tokenType),
        due_at: data.openedAt,
        token: null,
        etag: null,
        epoch: 0,
      });
    }
    await insertRows(trx, 'issuance_status_list_tokens', opened);
  },
});

/** After each date in ISO 8601. */
const NEVER = '9999';

@Injectable()
export class PublishedListsReadModel extends ReadModel<PublishedListTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, publishedLists);
  }

  /** Lists whose token is to be signed, the first ones first. */
  async listDue(shard: number, now: Date, limit: number): Promise<ListKey[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['tenant_id', 'list_id'])
      .where('shard', '=', shard)
      .where('due_at', '<=', now.toISOString())
      .orderBy('due_at')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ tenantId: row.tenant_id, listId: row.list_id }));
  }

  async find({ tenantId, listId }: ListKey): Promise<PublishedToken | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['media_type', 'token', 'etag'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return row && { mediaType: row.media_type, token: row.token, etag: row.etag };
  }

  /**
   * @returns false when the list has no row: it is not projected yet, or its tenant was purged
   * @throws StaleEpoch when a later holder of the lease has published the list
   */
  store(list: ListKey, published: { token: string; etag: string; dueAt: Date }, epoch: number): Promise<boolean> {
    const { token, etag, dueAt } = published;
    return this.replace(list, { token, etag, due_at: dueAt.toISOString() }, epoch);
  }

  /** Never, unless the list changes. */
  retire(list: ListKey, epoch: number): Promise<boolean> {
    return this.replace(list, { due_at: NEVER }, epoch);
  }

  /** Not before this time, unless the list changes: so that others that are due come first. */
  postpone(list: ListKey, until: Date, epoch: number): Promise<boolean> {
    return this.replace(list, { due_at: until.toISOString() }, epoch);
  }

  private async replace(
    { tenantId, listId }: ListKey,
    values: { token?: string; etag?: string; due_at: string },
    epoch: number,
  ): Promise<boolean> {
    const { numUpdatedRows } = await this.running.db
      .updateTable('issuance_status_list_tokens')
      .set({ ...values, epoch })
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .where('epoch', '<=', epoch)
      .executeTakeFirstOrThrow();
    if (numUpdatedRows === 1n) return true;
    if (await this.find({ tenantId, listId }))
      throw new StaleEpoch(`status list ${listId} was published after epoch ${epoch}`);
    return false;
  }
}
