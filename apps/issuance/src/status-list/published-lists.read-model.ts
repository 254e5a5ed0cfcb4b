import { Injectable } from '@nestjs/common';
import { readEvent, StaleEpoch, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { ListSigner } from './list-series.js';
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
    /** JSON of `ListSigner`. */
    signer: string;
    /** Of the signer, where it is one of mobile documents. */
    iaca_id: string | null;
    uri: string;
    /** Entries. */
    size: number;
    /** When another one is to be signed. */
    due_at: string;
    token: string | null;
    etag: string | null;
    expires_at: string | null;
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
  expiresAt: string | null;
  signer: ListSigner;
}

/** A list of mobile documents. */
export interface PublishedMobileList {
  listId: string;
  iacaId: string;
  docType: string;
  size: number;
  /** base64; null until the first one is signed. */
  token: string | null;
}

/**
 * The published token of each list. The events only make and delete rows; the publisher writes the tokens. Apart from the statuses, so that
 * tokens continue to be served while those are rebuilt.
 */
export const publishedLists: Projection<PublishedListTables> = purgingTenants('issuance', {
  name: 'issuance.status-list-tokens',
  version: 2,
  categories: [statusList.category],
  types: Object.keys(statusList.types),
  tables: ['issuance_status_list_tokens'],
  async create(db) {
    await createTable(db, 'issuance_status_list_tokens', {
      text: ['tenant_id', 'list_id', 'media_type', 'signer', 'uri', 'due_at'],
      nullableText: ['iaca_id', 'token', 'etag', 'expires_at'],
      integer: ['shard', 'size', 'epoch'],
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
        signer: JSON.stringify(data.signer),
        iaca_id: data.signer.kind === 'statusListSigner' ? data.signer.iacaId : null,
        uri: data.uri,
        size: data.size,
        due_at: data.openedAt,
        token: null,
        etag: null,
        expires_at: null,
        epoch: 0,
      });
    }
    await insertRows(trx, 'issuance_status_list_tokens', opened);
  },
});

const mobileListOf = (row: { list_id: string; signer: string; size: number; token: string | null }) => {
  const { iacaId, docType } = JSON.parse(row.signer) as Extract<ListSigner, { kind: 'statusListSigner' }>;
  return { listId: row.list_id, iacaId, docType, size: Number(row.size), token: row.token };
};

interface NewToken {
  token: string;
  etag: string;
  dueAt: Date;
  expiresAt: Date;
}

/** No token of the list is signed again: its key is destroyed. */
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
      .select(['media_type', 'token', 'etag', 'expires_at', 'signer'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return (
      row && {
        mediaType: row.media_type,
        token: row.token,
        etag: row.etag,
        expiresAt: row.expires_at,
        signer: JSON.parse(row.signer) as ListSigner,
      }
    );
  }

  /** Lists of mobile documents, by id. */
  async listMobile(
    tenantId: string,
    { after = '', limit }: { after?: string | undefined; limit: number },
  ): Promise<PublishedMobileList[]> {
    const rows = await this.ofDocuments(tenantId)
      .where('list_id', '>', after)
      .orderBy('list_id')
      .limit(limit)
      .execute();
    return rows.map(mobileListOf);
  }

  async findMobile({ tenantId, listId }: ListKey): Promise<PublishedMobileList | undefined> {
    const row = await this.ofDocuments(tenantId).where('list_id', '=', listId).executeTakeFirst();
    return row && mobileListOf(row);
  }

  /** Addresses of the tokens of these IACAs. */
  async listUris(tenantId: string, iacaIds: readonly string[], limit: number): Promise<string[]> {
    if (!iacaIds.length) return [];
    const rows = await this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select('uri')
      .where('tenant_id', '=', tenantId)
      .where('iaca_id', 'in', [...iacaIds])
      .orderBy('list_id')
      .limit(limit)
      .execute();
    return rows.map(({ uri }) => uri);
  }

  private ofDocuments(tenantId: string) {
    return this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['list_id', 'signer', 'size', 'token'])
      .where('tenant_id', '=', tenantId)
      .where('iaca_id', 'is not', null);
  }

  /**
   * @returns false when the list has no row: it is not projected yet, or its tenant was purged
   * @throws StaleEpoch when a later holder of the lease has published the list
   */
  store(list: ListKey, published: NewToken, epoch: number): Promise<boolean> {
    const { token, etag, dueAt, expiresAt } = published;
    const values = { token, etag, due_at: dueAt.toISOString(), expires_at: expiresAt.toISOString() };
    return this.replace(list, values, epoch);
  }

  /** Where no signer is active: the last token is served until it can be replaced. */
  postpone(list: ListKey, until: Date, epoch: number): Promise<boolean> {
    return this.replace(list, { due_at: until.toISOString() }, epoch);
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  retire(list: ListKey, epoch: number): Promise<boolean> {
    return this.replace(list, { due_at: NEVER }, epoch);
  }

  private async replace(
    { tenantId, listId }: ListKey,
    values: { token?: string; etag?: string; expires_at?: string; due_at: string },
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
