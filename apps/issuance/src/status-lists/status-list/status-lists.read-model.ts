import { setTimeout } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { CredentialStatus } from '@attestry/contracts';
import { readEvent, type Clock, type RecordedEvent } from '@attestry/event-store';
import { createTable, insertRows, ReadModels, type Projection, type SelectiveProjection } from '@attestry/read-model';
import { CLOCK, Health, purgingTenants, ReadModel } from '@attestry/service-kit';
import type { CredentialStatusChangedData } from '../../sessions/issued-credential/issued-credential.events.js';
import { issuedCredential } from '../../sessions/issued-credential/issued-credential.state.js';
import { endOfClaim, endOfCredential, latestEnded, type ListEnd } from './list-end.js';
import { type ListSeries } from './list-series.js';
import { maskingLists, type MaskedList, type MaskTables } from './masked-lists.js';
import { INVALID, invalidStatuses, packedStatuses, setStatus, SUSPENDED, VALID } from './packed-statuses.js';
import { shardOf } from './shard-of.js';
import { statusList } from './status-list.state.js';

type DescribedList = ListSeries & { uri: string };

export interface StatusListTables extends MaskTables {
  /** `dirty`: 1 from a change until a token with it is published, or its row of another projection has the time of the next attempt. */
  issuance_status_lists: MaskedList & {
    tenant_id: string;
    list_id: string;
    shard: number;
    /** JSON of `DescribedList`. */
    list: string;
    /** `ListEnd.endsAt` */
    ends_at: string;
    /**
     * `unused` until the first credential is recorded, `full` once all indexes are claimed: also one that was used is never `unused` again.
     */
    allocation: 'unused' | 'open' | 'full';
    /** Time of the last change of a status. */
    changed_at: string;
    /** base64 of the packed statuses; empty until the first change, as most lists have none. */
    statuses: string;
    /** Counts them. */
    changes: number;
    dirty: number;
  };
}

/** A list with the statuses to publish. */
export interface StoredList extends DescribedList, ListEnd {
  tenantId: string;
  listId: string;
  statuses: Uint8Array;
  changes: number;
  /** No credential names an index of it. */
  isUnused: boolean;
}

export interface ListKey {
  tenantId: string;
  listId: string;
}

/** State that a token was made of. */
type PublishedState = Pick<StoredList, keyof ListKey | 'changes' | 'endsAt' | 'isUnused'>;

const STATUS_TYPE: Readonly<Record<CredentialStatus, number>> = {
  valid: VALID,
  invalid: INVALID,
  suspended: SUSPENDED,
};

const unpack = ({ size, bits }: DescribedList, statuses: string): Uint8Array =>
  statuses ? new Uint8Array(Buffer.from(statuses, 'base64')) : packedStatuses(size, bits);

/** `statusListStream` */
const listIdOf = (stream: string): string => stream.slice(stream.indexOf('+') + 1);

/** Changes of a batch of events in one list. */
interface ListChanges extends ListKey {
  changes: CredentialStatusChangedData[];
  /** A credential names an index of it. */
  isUsed: boolean;
  /** Counters up to it are claimed. */
  claimed: number;
  endsAt: string;
}

/**
 * The statuses of each list, one row of packed bits that is changed in place: a change costs the same however many credentials there are.
 * Other code changes only `dirty`, so that a rebuild gives the same rows. It is not declared: it opens and packs a row once for all changes of a
 * batch.
 */
const unmaskedLists: SelectiveProjection<StatusListTables> = {
  name: 'issuance.status-lists',
  version: 3,
  categories: [statusList.category, issuedCredential.category],
  types: [...Object.keys(statusList.types), ...Object.keys(issuedCredential.types)],
  tables: ['issuance_status_lists'],
  async create(db) {
    await createTable(db, 'issuance_status_lists', {
      // SQLite does not read the large column where those before it are selected.
      text: ['tenant_id', 'list_id', 'list', 'ends_at', 'allocation', 'changed_at', 'statuses'],
      integer: ['shard', 'changes', 'dirty', 'masked'],
      primaryKey: ['tenant_id', 'list_id'],
      indexes: { issuance_status_lists_by_dirty: ['shard', 'dirty', 'changed_at'] },
    });
  },
  async project(trx, events: readonly RecordedEvent[]) {
    const opened: StatusListTables['issuance_status_lists'][] = [];
    const changed = new Map<string, ListChanges>();
    const changesOf = (tenantId: string, listId: string, endsAt = ''): ListChanges => {
      const at = `${tenantId} ${listId}`;
      let ofList = changed.get(at);
      if (!ofList) changed.set(at, (ofList = { tenantId, listId, changes: [], isUsed: false, claimed: 0, endsAt }));
      if (endsAt > ofList.endsAt) ofList.endsAt = endsAt;
      return ofList;
    };
    for (const stored of events) {
      const { tenantId } = stored.metadata;
      if (stored.stream.startsWith(`${statusList.category}-`)) {
        const event = readEvent(statusList, stored);
        if (event.type === 'StatusListOpened') {
          const { listId, sealedSecret: _secret, openedAt, ...list } = event.data;
          opened.push({
            tenant_id: tenantId,
            list_id: listId,
            shard: shardOf(listId),
            list: JSON.stringify(list satisfies DescribedList),
            ends_at: endOfClaim(openedAt),
            allocation: 'unused',
            changed_at: openedAt,
            statuses: '',
            changes: 0,
            dirty: 0,
            masked: 0,
          });
        } else if (event.type === 'StatusIndexesClaimed') {
          const { first, count, claimedAt } = event.data;
          changesOf(tenantId, listIdOf(stored.stream), endOfClaim(claimedAt)).claimed = first + count;
        }
        continue;
      }
      const event = readEvent(issuedCredential, stored);
      if (event.type === 'CredentialStatusChanged') changesOf(tenantId, event.data.listId).changes.push(event.data);
      else if (event.type === 'CredentialRecorded' && event.data.status)
        changesOf(tenantId, event.data.status.listId, endOfCredential(event.data.validUntil)).isUsed = true;
    }
    await insertRows(trx, 'issuance_status_lists', opened);
    for (const { tenantId, listId, changes, isUsed, claimed, endsAt } of changed.values()) {
      const ofList = trx
        .selectFrom('issuance_status_lists')
        .where('tenant_id', '=', tenantId)
        .where('list_id', '=', listId);
      const row = await ofList.select(['list', 'ends_at', 'allocation']).executeTakeFirst();
      // The tenant was purged.
      if (!row) continue;
      const list = JSON.parse(row.list) as DescribedList;
      const values: Partial<StatusListTables['issuance_status_lists']> = {};
      if (claimed === list.size) values.allocation = 'full';
      else if (isUsed && row.allocation === 'unused') values.allocation = 'open';
      // An unused list, or one that has ended, is signed again.
      if (values.allocation && row.allocation === 'unused') values.dirty = 1;
      if (endsAt > row.ends_at) Object.assign(values, { ends_at: endsAt, dirty: 1 });
      if (changes.length) {
        const packed = await ofList.select(['statuses', 'changes']).executeTakeFirstOrThrow();
        const statuses = unpack(list, packed.statuses);
        for (const { index, status } of changes) setStatus(statuses, list.bits, index, STATUS_TYPE[status]);
        values.statuses = Buffer.from(statuses).toString('base64');
        values.changes = Number(packed.changes) + changes.length;
        values.changed_at = changes.at(-1)!.changedAt;
        values.dirty = 1;
      }
      if (Object.keys(values).length)
        await trx
          .updateTable('issuance_status_lists')
          .set(values)
          .where('tenant_id', '=', tenantId)
          .where('list_id', '=', listId)
          .execute();
    }
  },
};

export const statusLists: Projection<StatusListTables> = purgingTenants('issuance', maskingLists(unmaskedLists));

/** How old the statuses of a token may be: it would hide later revocations. */
const RECENT_MS = 60_000;
/** Between two checks, for all shards of the process together; more often while tokens are not signed. */
const CHECK_MS = 10_000;
const RECHECK_MS = 3000;
/** How long a run waits for a check. */
const PATIENCE_MS = 1000;

@Injectable()
export class StatusListsReadModel extends ReadModel<StatusListTables> {
  /** When everything that was stored was found to be projected, milliseconds. */
  private coveredAt = -Infinity;
  private checkedAt = -Infinity;
  private checking: Promise<void> | undefined;

  constructor(
    readModels: ReadModels,
    health: Health,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {
    super(readModels, health, statusLists);
  }

  /**
   * Whether the statuses contain every change that was stored a minute ago. They do not while they are built for the first time, read from
   * the tables of another release, or while an event cannot be projected.
   */
  async areCurrent(): Promise<boolean> {
    if (!this.running.readsOwnVersion || !this.running.health.healthy) return false;
    const now = this.clock.now().getTime();
    const isRecent = () => isWithin(RECENT_MS, this.coveredAt, now);
    if (!this.checking && !isWithin(isRecent() ? CHECK_MS : RECHECK_MS, this.checkedAt, now)) {
      this.checkedAt = now;
      this.checking = this.check(now).finally(() => (this.checking = undefined));
      // Handled below; while the last one is recent, nothing waits for it.
      void Promise.allSettled([this.checking]);
    }
    if (!isRecent() && this.checking)
      await Promise.race([this.checking, setTimeout(PATIENCE_MS, undefined, { ref: false })]);
    return isRecent();
  }

  /** A projection that is always a little behind reaches what was stored at the time of the check in time. */
  private async check(now: number): Promise<void> {
    if (await this.running.waitForHead(RECENT_MS)) this.coveredAt = now;
  }

  /** Lists with changes that are not published, those first that have not changed for the longest time. */
  async listDirty(shard: number, limit: number): Promise<ListKey[]> {
    const rows = await this.running.db
      .selectFrom('issuance_status_lists')
      .select(['tenant_id', 'list_id'])
      .where('shard', '=', shard)
      .where('dirty', '=', 1)
      .orderBy('changed_at')
      .limit(limit)
      .execute();
    return rows.map((row) => ({ tenantId: row.tenant_id, listId: row.list_id }));
  }

  async find({ tenantId, listId }: ListKey): Promise<StoredList | undefined> {
    const row = await this.running.db
      .selectFrom('issuance_status_lists')
      .select(['list', 'statuses', 'changes', 'ends_at', 'allocation', 'masked'])
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    if (!row) return undefined;
    const described = JSON.parse(row.list) as DescribedList;
    const { size, bits } = described;
    return {
      ...described,
      ...{ tenantId, listId, changes: Number(row.changes) },
      statuses: Number(row.masked) ? invalidStatuses(size, bits) : unpack(described, row.statuses),
      ...{ endsAt: row.ends_at, isFull: row.allocation === 'full', isUnused: row.allocation === 'unused' },
    };
  }

  /** Whether no credential names an index of the list yet. */
  async isUnused({ tenantId, listId }: ListKey): Promise<boolean> {
    const row = await this.running.db
      .selectFrom('issuance_status_lists')
      .select('allocation')
      .where('tenant_id', '=', tenantId)
      .where('list_id', '=', listId)
      .executeTakeFirst();
    return row?.allocation === 'unused';
  }

  /** How many lists of the tenant are neither full nor ended, at most `limit`. */
  async countOpen(tenantId: string, limit: number): Promise<number> {
    const rows = await this.running.db
      .selectFrom('issuance_status_lists')
      .select('list_id')
      .where('tenant_id', '=', tenantId)
      .where('allocation', '!=', 'full')
      .where('ends_at', '>', latestEnded(this.clock.now()))
      .limit(limit)
      .execute();
    return rows.length;
  }

  /**
   * A token with so many changes is published, or the row of the token has the time of the next: what changed meanwhile leaves it dirty, also
   * the first credential.
   */
  async markPublished({ tenantId, listId, changes, endsAt, isUnused }: PublishedState) {
    await this.running.db
      .updateTable('issuance_status_lists')
      .set({ dirty: 0 })
      .where((row) => row.and({ tenant_id: tenantId, list_id: listId, changes, ends_at: endsAt }))
      .$if(isUnused, (update) => update.where('allocation', '=', 'unused'))
      .execute();
  }
}

const isWithin = (ms: number, time: number, now: number): boolean => Math.abs(now - time) <= ms;
