import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { anEvent, type RecordedEvent } from '@attestry/event-store';
import { describeOnPostgres, RowsInMemory } from '@attestry/testing';
import * as fc from 'fast-check';
import type { Kysely } from 'kysely';
import pg from 'pg';
import { openSqliteDatabase } from '../embedded/sqlite-dialect.js';
import { openPostgresDatabase, sqliteTypes } from '../postgres/postgres-dialect.js';
import { defineProjection } from './define-projection.js';
import { below, declareTables, type Change, type Changes } from './tables.js';

interface Tables {
  thing: { tenant_id: string; id: string; owner: string; note: string | null; amount: number; rest: number | null };
  part: { tenant_id: string; thing_id: string; id: string; text: string };
  label: { tenant_id: string; id: string };
}
const tables = declareTables<Tables>({
  thing: {
    text: ['tenant_id', 'id', 'owner'],
    nullableText: ['note'],
    integer: ['amount'],
    nullableInteger: ['rest'],
    primaryKey: ['id', 'tenant_id'],
    indexes: { thing_by_owner: ['tenant_id', 'owner'] },
  },
  part: { text: ['tenant_id', 'thing_id', 'id', 'text'], primaryKey: ['tenant_id', 'thing_id', 'id'] },
  label: { text: ['tenant_id', 'id'], primaryKey: ['tenant_id', 'id'] },
});
const { thing, part, label } = tables;

/** Changes of one event, so that any order of any changes is generated. */
type Step =
  | { kind: 'insertThing' | 'putThing'; id: string; owner: string; note: string | null; amount: number }
  | { kind: 'setThing'; id: string; note: string | null; ifOwner: string | undefined }
  | { kind: 'count'; id: string }
  | { kind: 'setOwned'; owner: string; amount: number }
  | { kind: 'removeThing'; id: string; ifNote: string | null | undefined }
  | { kind: 'removeOwned'; owner: string }
  | { kind: 'insertPart' | 'putPart'; thing: string; id: string; text: string }
  | { kind: 'setParts'; thing: string; text: string }
  | { kind: 'removeParts' | 'removeBelow'; thing: string; text: string }
  | { kind: 'insertName' | 'putName' | 'removeName' | 'nameThing'; id: string }
  | { kind: 'moveParts'; from: string; to: string; id: string };
type StepTaken = { type: 'StepTaken'; data: { steps: Step[] } };

const changesOf = (step: Step, tenant_id: string): Changes => {
  switch (step.kind) {
    case 'insertThing':
    case 'putThing': {
      const { kind, ...values } = step;
      const row = { ...values, tenant_id, rest: null };
      return kind === 'putThing' ? thing.put(row) : thing.insert(row);
    }
    case 'setThing':
      return thing.set(
        { id: step.id, tenant_id, ...(step.ifOwner !== undefined && { owner: step.ifOwner }) },
        { note: step.note, rest: 1 },
      );
    case 'count':
      return thing.with({ id: step.id, tenant_id }, ({ amount }) =>
        thing.set({ id: step.id, tenant_id }, { amount: amount + 1 }),
      );
    case 'setOwned':
      return thing.set({ tenant_id, owner: step.owner }, { amount: step.amount });
    case 'removeThing':
      return thing.remove({ id: step.id, tenant_id, ...(step.ifNote !== undefined && { note: step.ifNote }) });
    case 'removeOwned':
      return thing.remove({ tenant_id, owner: step.owner });
    case 'insertPart':
    case 'putPart': {
      const row = { tenant_id, thing_id: step.thing, id: step.id, text: step.text };
      // A part is not made without its thing.
      return thing.ifExists({ id: step.thing, tenant_id }, step.kind === 'putPart' ? part.put(row) : part.insert(row));
    }
    case 'setParts':
      return part.set({ tenant_id, thing_id: step.thing }, { text: step.text });
    case 'removeParts':
      return part.remove({ tenant_id, thing_id: step.thing, text: step.text });
    case 'removeBelow':
      return part.remove({ tenant_id, thing_id: step.thing, text: below(step.text) });
    case 'insertName':
      return label.insert({ tenant_id, id: step.id });
    case 'putName':
      return label.put({ tenant_id, id: step.id });
    case 'removeName':
      return label.remove({ tenant_id, id: step.id });
    case 'nameThing':
      return [
        label.ifExists({ tenant_id, id: step.id }, [
          thing.put({ tenant_id, id: step.id, owner: 'named', note: null, amount: 0, rest: null }),
          part.remove({ tenant_id, thing_id: step.id }),
        ]),
        label.insert({ tenant_id, id: step.id }),
      ];
    case 'moveParts':
      return part.with({ tenant_id, thing_id: step.from, id: step.id }, (moved) => [
        part.remove({ tenant_id, thing_id: step.from, id: step.id }),
        part.put({ ...moved, thing_id: step.to }),
        part.set({ tenant_id, thing_id: step.to, id: step.id }, { text: `${moved.text}'` }),
      ]);
  }
};

const things = defineProjection({
  name: 'test.things',
  version: 1,
  aggregates: [
    {
      category: 'thing',
      initial: {},
      types: { StepTaken: 1 },
      evolve: (state: object, _event: StepTaken) => state,
    },
  ],
  tables,
  on: { StepTaken: ({ data }, { tenantId }) => data.steps.map((step) => changesOf(step, tenantId)) },
});

const id = fc.constantFrom('a', 'b', 'c', `d'"\\ é💶`);
const text = fc.constantFrom('', 'x', 'y', '2026-01-01T00:00:00.000Z', '{"json":[null]}');
const note = fc.oneof(fc.constant(null), text);
const amount = fc.constantFrom(0, 1, -5, Number.MAX_SAFE_INTEGER - 1000);
const kinds = <Kind extends Step['kind']>(...all: Kind[]) => fc.constantFrom(...all);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: kinds('insertThing', 'putThing'), id, owner: text, note, amount }),
  fc.record({ kind: kinds('setThing'), id, note, ifOwner: fc.option(text, { nil: undefined }) }),
  fc.record({ kind: kinds('count'), id }),
  fc.record({ kind: kinds('setOwned'), owner: text, amount }),
  fc.record({ kind: kinds('removeThing'), id, ifNote: fc.option(note, { nil: undefined }) }),
  fc.record({ kind: kinds('removeOwned'), owner: text }),
  fc.record({ kind: kinds('insertPart', 'putPart'), thing: id, id, text }),
  fc.record({ kind: kinds('setParts'), thing: id, text }),
  fc.record({ kind: kinds('removeParts', 'removeBelow'), thing: id, text }),
  fc.record({ kind: kinds('insertName', 'putName', 'removeName', 'nameThing'), id }),
  fc.record({ kind: kinds('moveParts'), from: id, to: id, id }),
);
/** `undefined`: the tenant is purged. */
const entry = fc.record({
  tenantId: fc.constantFrom('t1', 't2'),
  steps: fc.option(fc.array(step, { maxLength: 4 }), { nil: undefined, freq: 20 }),
});

const stored = ({ tenantId, steps }: { tenantId: string; steps: Step[] | undefined }, at: number): RecordedEvent => ({
  ...anEvent(
    steps
      ? { type: 'StepTaken', data: { steps }, tenantId }
      : { type: 'TenantDataPurged', data: { tenantId }, tenantId },
  ),
  stream: steps ? `thing-${tenantId}+s` : `testPurgedTenant-${tenantId}`,
  revision: at,
  position: String(at + 1),
});

/** Rows as texts, in one order. */
const texts = (rows: readonly object[]) =>
  rows.map((row) => JSON.stringify(Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1)))).toSorted();

const itGivesTheSameRows = (database: () => Kysely<Tables>) => {
  it('gives the rows that its changes define, however the events are split into batches', async () => {
    const db = database();
    await things.create(db);
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 25 }), fc.array(fc.nat(24)), async (entries, splits) => {
        const events = entries.map(stored);
        const memory = new RowsInMemory();
        for (const event of events) things.changesOf(event).forEach((change: Change) => memory.apply(change));
        for (const table of things.tables) await db.deleteFrom(table).execute();
        const ends = [...new Set(splits)].filter((end) => end < events.length).toSorted((a, b) => a - b);
        for (const [at, end] of [...ends, events.length].entries()) {
          const batch = events.slice(at === 0 ? 0 : ends[at - 1], end);
          await db.transaction().execute((trx) => things.project(trx, batch, 'x'));
        }
        for (const table of things.tables)
          expect(texts(await db.selectFrom(table).selectAll().execute())).toEqual(
            texts(memory.tables.get(table) ?? []),
          );
      }),
      { numRuns: 100 },
    );
  });
};

describe('a declared projection in SQLite', () => {
  let folder: string;
  let db: Kysely<Tables>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-declared-'));
    db = await openSqliteDatabase<Tables>({ file: join(folder, 'rows.db') });
  });
  afterAll(async () => {
    await db.destroy();
    await rm(folder, { recursive: true });
  });
  itGivesTheSameRows(() => db);
});

describeOnPostgres('a declared projection in PostgreSQL', (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server().url(), types: sqliteTypes });
  });
  afterAll(() => pool.end());
  itGivesTheSameRows(() => openPostgresDatabase<Tables>(pool));
});
