import { Injectable } from '@nestjs/common';
import type { CredentialProfile } from '@attestry/contracts';
import { readEvent, StaleEpoch, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import { revocationListUri } from './list-series.js';
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
    /** Profile of the revocation list, whose address, issuer and bytes the following members are; empty where the list is none. */
    revocation_profile: string;
    revocation_uri: string;
    /** DID. */
    issuer: string;
    opened_at: string;
    revocation_list: string | null;
    revocation_etag: string | null;
    /** Of the lease under which it was signed. */
    epoch: number;
  };
}

interface Published {
  token: string;
  etag: string;
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
  version: 2,
  categories: [statusList.category],
  types: Object.keys(statusList.types),
  tables: ['issuance_status_list_tokens'],
  async create(db) {
    await createTable(db, 'issuance_status_list_tokens', {
      text: [
        'tenant_id',
        'list_id',
        'media_type',
        'due_at',
        'revocation_profile',
        'revocation_uri',
        'issuer',
        'opened_at',
      ],
      nullableText: ['token', 'etag', 'revocation_list', 'revocation_etag'],
      integer: ['shard', 'epoch'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: {
        issuance_status_list_tokens_by_due: ['shard', 'due_at'],
        issuance_status_list_tokens_by_profile: ['tenant_id', 'revocation_profile', 'opened_at', 'list_id'],
      },
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
        revocation_profile: data.revocationLists ?? '',
        revocation_uri: revocationListUri(data, data.listId) ?? '',
        issuer: data.signer.kind === 'pinnedKey' ? data.signer.verificationMethod.split('#', 1)[0]! : '',
        opened_at: data.openedAt,
        revocation_list: null,
        revocation_etag: null,
        epoch: 0,
      });
    }
    await insertRows(trx, 'issuance_status_list_tokens', opened);
  },
});

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
      .select(['media_type', 'token', 'etag'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return row && { mediaType: row.media_type, token: row.token, etag: row.etag };
  }

  /** Lists that are published as revocation lists of the profile. */
  revocationLists(tenantId: string, profile: CredentialProfile) {
    return this.running.db
      .selectFrom('issuance_status_list_tokens')
      .select(['list_id', 'issuer', 'revocation_uri', 'opened_at'])
      .where('tenant_id', '=', tenantId)
      .where('revocation_profile', '=', profile);
  }

  findRevocationList({ tenantId, listId }: ListKey, profile: CredentialProfile) {
    return this.revocationLists(tenantId, profile)
      .select(['revocation_list', 'revocation_etag'])
      .where('list_id', '=', listId)
      .executeTakeFirst();
  }

  /**
   * @returns false when the list has no row: it is not projected yet, or its tenant was purged
   * @throws StaleEpoch when a later holder of the lease has published the list
   */
  store(
    list: ListKey,
    { token, etag, dueAt, revocationList }: Published & { dueAt: Date; revocationList?: Published | undefined },
    epoch: number,
  ): Promise<boolean> {
    const revocation = revocationList && {
      revocation_list: revocationList.token,
      revocation_etag: revocationList.etag,
    };
    return this.replace(list, { token, etag, ...revocation, due_at: dueAt.toISOString() }, epoch);
  }

  /** The last token is served until it is replaced after another change, or deleted with the tenant. */
  retire(list: ListKey, epoch: number): Promise<boolean> {
    return this.replace(list, { due_at: NEVER }, epoch);
  }

  private async replace(
    { tenantId, listId }: ListKey,
    values: Partial<PublishedListTables['issuance_status_list_tokens']>,
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
