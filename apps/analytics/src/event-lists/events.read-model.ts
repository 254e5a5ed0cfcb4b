import { Inject, Injectable } from '@nestjs/common';
import { sql, type ColumnDataType, type Kysely, type Transaction } from 'kysely';
import type { RecordedEvent } from '@attestry/event-store';
import { insertRows, putRows, ReadModels, type Projection } from '@attestry/read-model';
import { Health, OPERATION_READ_MODELS, ReadModel, type PlatformConfig } from '@attestry/service-kit';
import type { RecorderFact } from '../operation-stream/operation-stream.events.js';
import { mergeParts, partsOf, type OperationPart, type OperationRow } from './operation-rows.js';

/** A process that records operations for a participant. */
export interface RecorderRow {
  participant: string;
  instance: string;
  started_at: string;
  seen_at: string;
  /** When it was closed or found lost: a message that is delivered again does not open it. */
  closed_at: string | null;
}

export interface EventTables {
  analytics_operations: OperationRow;
  operation_recorders: RecorderRow;
}

const COLUMNS: Readonly<Record<keyof OperationRow, readonly [ColumnDataType, 'not null' | 'null']>> = {
  tenant_id: ['text', 'not null'],
  start_id: ['text', 'not null'],
  end_id: ['text', 'not null'],
  request_id: ['text', 'not null'],
  operation: ['text', 'not null'],
  prefix: ['text', 'not null'],
  category: ['text', 'not null'],
  actor: ['text', 'not null'],
  object_type: ['text', 'null'],
  object_id: ['text', 'null'],
  started_at: ['text', 'null'],
  start_key: ['text', 'null'],
  start_source: ['integer', 'not null'],
  start_metadata: ['text', 'null'],
  start_data: ['text', 'null'],
  outcome: ['text', 'null'],
  ended_at: ['text', 'null'],
  end_key: ['text', 'null'],
  end_source: ['integer', 'not null'],
  end_metadata: ['text', 'null'],
  end_data: ['text', 'null'],
  deadline: ['bigint', 'null'],
  last_at: ['text', 'not null'],
};

/**
 * Chosen by EXPLAIN of the documented filters (ADR 0073): one for each filter and each of the two orders. An outcome by its id; START by the
 * key.
 */
const LISTS = {
  all: [],
  type: ['prefix'],
  actor: ['actor'],
  object_type: ['object_type'],
  object: ['object_type', 'object_id'],
} as const;

/**
 * Always true. An index with such a condition serves only queries that repeat it: without statistics SQLite would also use it for queries
 * with another filter, and read every row of the tenant.
 */
export const ONLY_IN = { all: sql<boolean>`end_source >= 0`, object_type: sql<boolean>`end_source > -1` };

const createIndexes = async (db: Kysely<EventTables>): Promise<void> => {
  const table = 'analytics_operations';
  const index = (name: string, columns: readonly string[]) =>
    db.schema
      .createIndex(`${table}_${name}`)
      .ifNotExists()
      .on(table)
      .columns([...columns]);
  await index('id', ['tenant_id', 'end_id']).execute();
  for (const [name, columns] of Object.entries(LISTS)) {
    const [starts, ends] = [
      index(`${name}_started`, ['tenant_id', ...columns, 'started_at', 'start_key']),
      index(`${name}_ended`, ['tenant_id', ...columns, ...(name === 'type' ? ['outcome'] : []), 'ended_at', 'end_key']),
    ];
    for (const one of [starts, ends]) {
      const ofObjects = name.startsWith('object') ? one.where(sql.ref('object_type'), 'is not', null) : one;
      await (name === 'all' || name === 'object_type' ? ofObjects.where(ONLY_IN[name]) : ofObjects).execute();
    }
  }
  // Retention, over all tenants.
  await index('last', ['last_at']).execute();
  await index('due', ['deadline'])
    .where(sql.ref('deadline'), 'is not', null)
    .where(sql.ref('outcome'), 'is', null)
    .execute();
};

/** It is not declared: it receives every event as stored, also of unknown types, and merges the two halves of an operation. */
export const eventsProjection: Projection<EventTables> = {
  name: 'analytics.events',
  version: 5,
  raw: true,
  tables: ['analytics_operations', 'operation_recorders'],

  async create(db: Kysely<EventTables>) {
    let operations = db.schema.createTable('analytics_operations').ifNotExists();
    for (const [name, [type, nullable]] of Object.entries(COLUMNS))
      operations = operations.addColumn(name, type, (column) => (nullable === 'null' ? column : column.notNull()));
    await operations.addPrimaryKeyConstraint('analytics_operations_pk', ['tenant_id', 'start_id'] as never).execute();
    await createIndexes(db);
    let recorders = db.schema.createTable('operation_recorders').ifNotExists();
    for (const name of ['participant', 'instance', 'started_at', 'seen_at'])
      recorders = recorders.addColumn(name, 'text', (column) => column.notNull());
    recorders = recorders
      .addColumn('closed_at', 'text')
      .addPrimaryKeyConstraint('operation_recorders_pk', ['participant', 'instance'] as never);
    await recorders.execute();
  },

  async project(trx: Transaction<EventTables>, events: readonly RecordedEvent[]) {
    await projectOperations(trx, events.flatMap(partsOf));
    for (const event of events) if (event.type === 'RecorderReported') await projectRecorder(trx, event);
  },
};

const projectOperations = async (trx: Transaction<EventTables>, parts: readonly OperationPart[]): Promise<void> => {
  const known = new Map<string, OperationRow>();
  for (const [tenantId, ofTenant] of Map.groupBy(parts, ({ tenant_id }) => tenant_id)) {
    const ids = [...new Set(ofTenant.map(({ start_id }) => start_id))];
    const rows = await trx
      .selectFrom('analytics_operations')
      .selectAll()
      .where('tenant_id', '=', tenantId)
      .where('start_id', 'in', ids)
      .execute();
    for (const row of rows)
      known.set(`${tenantId} ${row.start_id}`, {
        ...row,
        deadline: row.deadline === null ? null : Number(row.deadline),
      });
  }
  const stored = new Set(known.keys());
  for (const part of parts) {
    const key = `${part.tenant_id} ${part.start_id}`;
    const row = known.get(key);
    known.set(key, row ? mergeParts(row, part) : part);
  }
  const rows = (isStored: boolean) => [...known].filter(([key]) => stored.has(key) === isStored).map(([, row]) => row);
  await putRows(trx, 'analytics_operations', ['tenant_id', 'start_id'], rows(true));
  await insertRows(trx, 'analytics_operations', rows(false));
};

/** A recorder without START began before the retention of its stream. */
const projectRecorder = async (trx: Transaction<EventTables>, event: RecordedEvent): Promise<void> => {
  const { instance, participant, state } = event.data as RecorderFact;
  const { occurredAt: at } = event.metadata;
  const closed_at = state === 'closed' || state === 'lost' ? at : null;
  await trx
    .insertInto('operation_recorders')
    .values({ instance, participant, started_at: at, seen_at: at, closed_at })
    .onConflict((conflict) => {
      const update = conflict
        .columns(['participant', 'instance'])
        .doUpdateSet(closed_at === null ? { seen_at: at } : { closed_at })
        .where('operation_recorders.closed_at', 'is', null);
      return closed_at === null ? update.where('operation_recorders.seen_at', '<', at) : update;
    })
    .execute();
};

const DAY_MS = 86_400_000;
/** Entries before this time are neither listed nor kept. */
export const retainedFrom = (now: Date, { operationEventsDays: days }: Pick<PlatformConfig, 'operationEventsDays'>) =>
  new Date(now.getTime() - days * DAY_MS).toISOString();

/** Rows that one transaction deletes. */
const PORTION = 500;

/** Analytics rows, and which operations and recorders are open. */
@Injectable()
export class EventsReadModel extends ReadModel<EventTables> {
  constructor(@Inject(OPERATION_READ_MODELS) readModels: ReadModels, health: Health) {
    super(readModels, health, eventsProjection);
  }

  get db(): Kysely<EventTables> {
    return this.running.db;
  }

  /** Operations without outcome that were due before a time, milliseconds since the epoch. */
  overdue(before: number, limit: number): Promise<OperationRow[]> {
    return this.db
      .selectFrom('analytics_operations')
      .selectAll()
      .where('outcome', 'is', null)
      .where('deadline', '<', before)
      .orderBy('deadline')
      .limit(limit)
      .execute();
  }

  /** The first deadline of an operation without outcome, milliseconds since the epoch. */
  async nextDeadline(): Promise<number | undefined> {
    const row = await this.db
      .selectFrom('analytics_operations')
      .select('deadline')
      .where('outcome', 'is', null)
      .where('deadline', 'is not', null)
      .orderBy('deadline')
      .limit(1)
      .executeTakeFirst();
    return row && Number(row.deadline);
  }

  /** Recorders that were not closed. */
  recorders(): Promise<RecorderRow[]> {
    return this.db.selectFrom('operation_recorders').selectAll().where('closed_at', 'is', null).execute();
  }

  /** In portions, so that rows are projected in between. */
  async discardBefore(time: string): Promise<void> {
    while ((await discardPortion(this.db, time, PORTION)) === PORTION);
    await this.db.deleteFrom('operation_recorders').where('closed_at', '<', time).execute();
  }
}

/** @returns the number of rows that were deleted */
export const discardPortion = async (db: Kysely<EventTables>, time: string, portion: number): Promise<number> => {
  const key = sql`(${sql.ref('tenant_id')}, ${sql.ref('start_id')})`;
  const oldest = db
    .selectFrom('analytics_operations')
    .select(['tenant_id', 'start_id'])
    .where('last_at', '<', time)
    .orderBy('last_at')
    .limit(portion);
  const { numDeletedRows } = await db
    .deleteFrom('analytics_operations')
    .where(sql<boolean>`${key} in (${oldest})`)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
};
