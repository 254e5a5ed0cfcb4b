import { Injectable } from '@nestjs/common';
import type { CredentialStatus } from '@attestry/contracts';
import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type { CredentialStatusChangedData } from '../issued-credential/issued-credential.events.js';
import { issuedCredential } from '../issued-credential/issued-credential.state.js';
import { withdrawnDomains } from '../withdrawn-domains/withdrawn-domains.state.js';
import { issuerHost } from '../credential-configuration/configurations-under.js';
import { issuerOf, type ListSeries } from './list-series.js';
import { INVALID, invalidStatuses, packedStatuses, setStatus, SUSPENDED, VALID } from './packed-statuses.js';
import { shardOf } from './shard-of.js';
import { statusList } from './status-list.state.js';

type DescribedList = ListSeries & { uri: string };

export interface StatusListTables {
  /** `dirty`: 1 from a change until a token with it is published. `changes` counts them, of `masked` too. */
  issuance_status_lists: {
    tenant_id: string;
    list_id: string;
    shard: number;
    /** JSON of `DescribedList`. */
    list: string;
    /** base64 of the packed statuses; empty until the first change, as most lists have none. */
    statuses: string;
    changes: number;
    dirty: number;
    /** Of the issuer of its credentials; empty where a domain does not identify it. */
    host: string;
    /** 1 while the tenant has lost the domain `host`: every status is published as INVALID. */
    masked: number;
  };
  issuance_withdrawn_domains: { tenant_id: string; domain: string };
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

type StatusListRow = StatusListTables['issuance_status_lists'];

const unpack = ({ list, statuses }: Pick<StatusListRow, 'list' | 'statuses'>) => {
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
export const statusLists: Projection<StatusListTables> = purgingTenants('issuance', {
  name: 'issuance.status-lists',
  version: 2,
  categories: [statusList.category, issuedCredential.category, withdrawnDomains.category],
  types: [statusList, issuedCredential, withdrawnDomains].flatMap(({ types }) => Object.keys(types)),
  tables: ['issuance_status_lists', 'issuance_withdrawn_domains'],
  async create(db) {
    await createTable(db, 'issuance_status_lists', {
      text: ['tenant_id', 'list_id', 'list', 'statuses', 'host'],
      integer: ['shard', 'changes', 'dirty', 'masked'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: { issuance_status_lists_by_dirty: ['shard', 'dirty'] },
    });
    await createTable(db, 'issuance_withdrawn_domains', {
      text: ['tenant_id', 'domain'],
      primaryKey: ['tenant_id', 'domain'],
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    let opened: StatusListRow[] = [];
    const changed = new Map<string, ListKey & { changes: CredentialStatusChangedData[] }>();
    const write = async () => {
      await insertRows(trx, 'issuance_status_lists', await masked(trx, opened));
      for (const list of changed.values()) await changeStatuses(trx, list);
      opened = [];
      changed.clear();
    };
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
          host: issuerHost(issuerOf(list.signer)) ?? '',
          masked: 0,
        });
      } else if (stored.type === 'CredentialStatusChanged') {
        const event = readEvent(issuedCredential, stored);
        if (event.type !== 'CredentialStatusChanged') continue;
        const { listId } = event.data;
        const at = `${tenantId} ${listId}`;
        const ofList = changed.get(at) ?? { tenantId, listId, changes: [] };
        ofList.changes.push(event.data);
        changed.set(at, ofList);
      } else if (stored.stream.startsWith(`${withdrawnDomains.category}-`)) {
        // In order, so that `changes` does not depend on the batches.
        await write();
        const { type, data } = readEvent(withdrawnDomains, stored);
        await maskLists(trx, { tenantId, domain: data.domain, isWithdrawn: type === 'IssuerDomainWithdrawn' });
      }
    }
    await write();
  },
});

type Db = Transaction<StatusListTables>;

/** New lists of a domain that is withdrawn. */
const masked = async (trx: Db, opened: readonly StatusListRow[]): Promise<StatusListRow[]> => {
  const rows: StatusListRow[] = [];
  for (const row of opened) {
    const withdrawn =
      row.host &&
      (await trx
        .selectFrom('issuance_withdrawn_domains')
        .select('domain')
        .where('tenant_id', '=', row.tenant_id)
        .where('domain', '=', row.host)
        .executeTakeFirst());
    rows.push(withdrawn ? { ...row, masked: 1 } : row);
  }
  return rows;
};

const maskLists = async (
  trx: Db,
  { tenantId, domain, isWithdrawn }: { tenantId: string; domain: string; isWithdrawn: boolean },
): Promise<void> => {
  await trx
    .deleteFrom('issuance_withdrawn_domains')
    .where('tenant_id', '=', tenantId)
    .where('domain', '=', domain)
    .execute();
  if (isWithdrawn) await insertRows(trx, 'issuance_withdrawn_domains', [{ tenant_id: tenantId, domain }]);
  await trx
    .updateTable('issuance_status_lists')
    .set((row) => ({ masked: Number(isWithdrawn), changes: row('changes', '+', 1), dirty: 1 }))
    .where('tenant_id', '=', tenantId)
    .where('host', '=', domain)
    .execute();
};

const changeStatuses = async (
  trx: Db,
  { tenantId, listId, changes }: ListKey & { changes: readonly CredentialStatusChangedData[] },
): Promise<void> => {
  const row = await trx
    .selectFrom('issuance_status_lists')
    .select(['list', 'statuses', 'changes'])
    .where('tenant_id', '=', tenantId)
    .where('list_id', '=', listId)
    .executeTakeFirst();
  // The tenant was purged.
  if (!row) return;
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
};

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

  /** With the statuses to publish. */
  async find({ tenantId, listId }: ListKey): Promise<StoredList | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_lists')
      .select(['list', 'statuses', 'changes', 'masked'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    if (!row) return undefined;
    const list = unpack(row);
    const statuses = Number(row.masked) ? invalidStatuses(list.size, list.bits) : list.statuses;
    return { tenantId, listId, changes: Number(row.changes), ...list, statuses };
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
