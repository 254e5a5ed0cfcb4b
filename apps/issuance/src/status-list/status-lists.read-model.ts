import { Injectable } from '@nestjs/common';
import type { CredentialStatus } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection, type SelectiveProjection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { CredentialStatusChangedData } from '../issued-credential/issued-credential.events.js';
import { issuedCredential } from '../issued-credential/issued-credential.state.js';
import type { ListSeries } from './list-series.js';
import { maskingLists, unmasked, type MaskedList, type MaskTables } from './masked-lists.js';
import { INVALID, invalidStatuses, packedStatuses, setStatus, SUSPENDED, VALID } from './packed-statuses.js';
import { shardOf } from './shard-of.js';
import { statusList } from './status-list.state.js';

type DescribedList = ListSeries & { uri: string };

export interface StatusListTables extends MaskTables {
  /** `dirty`: 1 from a change until a token with it is published. `changes` counts them. */
  issuance_status_lists: MaskedList & {
    tenant_id: string;
    list_id: string;
    shard: number;
    /** JSON of `DescribedList`. */
    list: string;
    /** base64 of the packed statuses; empty until the first change, as most lists have none. */
    statuses: string;
    changes: number;
    dirty: number;
  };
}

/** A list with the statuses to publish. */
export interface StoredList extends DescribedList {
  tenantId: string;
  listId: string;
  statuses: Uint8Array;
  changes: number;
}

export interface ListKey {
  tenantId: string;
  listId: string;
}

const STATUS_TYPE: Readonly<Record<CredentialStatus, number>> = {
  valid: VALID,
  invalid: INVALID,
  suspended: SUSPENDED,
};

const unpack = ({ list, statuses }: { list: string; statuses: string }) => {
  const described = JSON.parse(list) as DescribedList;
  const packed = statuses
    ? new Uint8Array(Buffer.from(statuses, 'base64'))
    : packedStatuses(described.size, described.bits);
  return { ...described, statuses: packed };
};

/**
 * The statuses of each list, one row of packed bits that is changed in place: a change costs the same however many credentials there are.
 * Nothing here but `dirty` is written by others, so that a rebuild gives the same rows.
 */
const unmaskedLists: SelectiveProjection<StatusListTables> = {
  name: 'issuance.status-lists',
  version: 2,
  categories: [statusList.category, issuedCredential.category],
  types: [...Object.keys(statusList.types), ...Object.keys(issuedCredential.types)],
  tables: ['issuance_status_lists'],
  async create(db) {
    await createTable(db, 'issuance_status_lists', {
      text: ['tenant_id', 'list_id', 'list', 'host', 'statuses'],
      integer: ['shard', 'changes', 'dirty', 'masked'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: { issuance_status_lists_by_dirty: ['shard', 'dirty'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    const opened: StatusListTables['issuance_status_lists'][] = [];
    const changed = new Map<string, ListKey & { changes: CredentialStatusChangedData[] }>();
    for (const stored of events) {
      const { tenantId } = stored.metadata;
      if (stored.type === 'StatusListOpened') {
        const event = readEvent(statusList, stored);
        if (event.type !== 'StatusListOpened') continue;
        const { listId, sealedSecret: _secret, openedAt: _openedAt, ...list } = event.data;
        opened.push({
          tenant_id: tenantId,
          list_id: listId,
          shard: shardOf(listId),
          list: JSON.stringify(list satisfies DescribedList),
          statuses: '',
          changes: 0,
          dirty: 0,
          ...unmasked(list),
        });
      } else if (stored.type === 'CredentialStatusChanged') {
        const event = readEvent(issuedCredential, stored);
        if (event.type !== 'CredentialStatusChanged') continue;
        const { listId } = event.data;
        const at = `${tenantId} ${listId}`;
        const ofList = changed.get(at) ?? { tenantId, listId, changes: [] };
        ofList.changes.push(event.data);
        changed.set(at, ofList);
      }
    }
    await insertRows(trx, 'issuance_status_lists', opened);
    for (const { tenantId, listId, changes } of changed.values()) {
      const row = await trx
        .selectFrom('issuance_status_lists')
        .select(['list', 'statuses', 'changes'])
        .where('tenant_id', '=', tenantId)
        .where('list_id', '=', listId)
        .executeTakeFirst();
      // The tenant was purged.
      if (!row) continue;
      const { statuses, bits } = unpack(row);
      for (const { index, status } of changes) setStatus(statuses, bits, index, STATUS_TYPE[status]);
      await trx
        .updateTable('issuance_status_lists')
        .set({
          statuses: Buffer.from(statuses).toString('base64'),
          changes: Number(row.changes) + changes.length,
          dirty: 1,
        })
        .where('tenant_id', '=', tenantId)
        .where('list_id', '=', listId)
        .execute();
    }
  },
};

export const statusLists: Projection<StatusListTables> = purgingTenants('issuance', maskingLists(unmaskedLists));

/** In one document: of 131 million credentials. */
const MOST_URIS = 1000;

@Injectable()
export class StatusListsReadModel extends ReadModel<StatusListTables> {
  constructor(readModels: ReadModels, health: Health) {
    super(readModels, health, statusLists);
  }

  /** Lists with changes that are not published. */
  async listDirty(shard: number, limit: number): Promise<ListKey[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_lists')
      .select(['tenant_id', 'list_id'])
      .where('shard', '=', shard)
      .where('dirty', '=', 1)
      .limit(limit)
      .execute();
    return rows.map((row) => ({ tenantId: row.tenant_id, listId: row.list_id }));
  }

  async find({ tenantId, listId }: ListKey): Promise<StoredList | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_lists')
      .select(['list', 'statuses', 'changes', 'masked'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    if (!row) return undefined;
    const list = unpack(row);
    if (Number(row.masked)) list.statuses = invalidStatuses(list.size, list.bits);
    return { tenantId, listId, changes: Number(row.changes), ...list };
  }

  /** Addresses of the tenant's tokens. */
  async listUris(tenantId: string): Promise<string[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_lists')
      .select('list')
      .where('tenant_id', '=', tenantId)
      .orderBy('list_id')
      .limit(MOST_URIS)
      .execute();
    return rows.map(({ list }) => (JSON.parse(list) as DescribedList).uri);
  }

  /** A token with so many changes is published: later ones leave the list dirty. */
  async markPublished({ tenantId, listId, changes }: Pick<StoredList, 'tenantId' | 'listId' | 'changes'>) {
    await this.running.db
      .updateTable('issuance_status_lists')
      .set({ dirty: 0 })
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .where('changes', '=', changes)
      .execute();
  }
}
