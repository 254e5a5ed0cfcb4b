import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreUnavailable, StaleEpoch, type Leases } from '@attestry/event-store';
import {
  createTable,
  openSqliteDatabase,
  type Projection,
  type ReadModels,
  type RunningProjection,
} from '@attestry/read-model';
import type { Kysely } from 'kysely';
import { Health } from '../process/health.js';
import { createLogger } from '../process/logger.js';
import { DueRowsJob, type DueRows } from './due-rows.js';

interface Tables {
  thing: { tenant_id: string; id: string; due_at: string; until: string | null };
}
type Thing = Tables['thing'];

const NAME = 'issuance.things';
const MINUTE_MS = 60_000;
const projection = { name: 'issuance.things', version: 1, tables: ['thing'] } as unknown as Projection<Tables>;
let folder: string;
let db: Kysely<Tables>;
let now: number;
let handled: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-due-rows-'));
  db = await openSqliteDatabase<Tables>({ file: join(folder, 'rows.db') });
  await createTable(db, 'thing', {
    text: ['tenant_id', 'id', 'due_at'],
    nullableText: ['until'],
    primaryKey: ['tenant_id', 'id'],
  });
  now = Date.parse('2026-03-01T00:00:00.000Z');
  handled = [];
});
afterEach(async () => {
  await db.destroy();
  await rm(folder, { recursive: true });
});

const at = (minutes: number) => new Date(now + minutes * MINUTE_MS).toISOString();
const add = (...things: (Partial<Thing> & { id: string })[]) =>
  db
    .insertInto('thing')
    .values(things.map((thing) => ({ tenant_id: 't', due_at: at(0), until: null, ...thing })))
    .execute();
const left = async () => (await db.selectFrom('thing').select('id').orderBy('id').execute()).map(({ id }) => id);

class Job extends DueRowsJob<Tables> {
  static async start(
    rows: Partial<DueRows<Thing>>,
    running: Partial<RunningProjection<Tables>> = {},
    catchUpMs?: number,
  ) {
    const started = { db, readsOwnVersion: true, health: { healthy: true, caughtUp: true }, ...running };
    const readModels = { start: () => Promise.resolve(started) } as unknown as ReadModels;
    const leases = { acquire: () => Promise.resolve(undefined), release: () => Promise.resolve() } as unknown as Leases;
    const engines = {
      readModels,
      leases,
      health: new Health(),
      clock: { now: () => new Date(now) },
      logger: createLogger('silent'),
    };
    const job = new Job(engines, {
      name: NAME,
      failure: 'handling things failed',
      pauseMs: MINUTE_MS,
      projection,
      ...(catchUpMs !== undefined && { catchUpMs }),
      rows: [
        {
          table: 'thing',
          key: ['tenant_id', 'id'],
          order: 'due_at',
          dueUpTo: (time) => time,
          handle: async ({ id }) => {
            handled.push(id);
            return 'remove';
          },
          failure: 'thing not handled',
          recovery: 'thing no longer fails',
          ...rows,
        },
      ],
    });
    await job.onModuleInit();
    return job;
  }
  get shown() {
    return this.fault;
  }
}
const failingFor =
  (...failing: string[]) =>
  async ({ id }: Thing) => {
    handled.push(id);
    if (failing.includes(id)) throw new Error(`${id} is wrong`);
    return 'remove' as const;
  };

describe('rows that are due', () => {
  it('are handled and removed, the first ones first, however many there are', async () => {
    const many = Array.from({ length: 1203 }, (_, n) => `m${String(n).padStart(4, '0')}`);
    await add(...many.map((id) => ({ id, due_at: at(-1) })));
    await add({ id: 'first', due_at: at(-2) }, { id: 'now', due_at: at(0) }, { id: 'later', due_at: at(1) });
    const job = await Job.start({});
    expect((await job.due(new Date(now))).length).toBe(500);
    expect(await job.sweep()).toBe(1205);
    expect(handled).toEqual(['first', ...many, 'now']);
    expect(await left()).toEqual(['later']);
  });

  it('are kept, postponed, or left alone when the projection changed them meanwhile, as the outcome says', async () => {
    await add({ id: 'kept' }, { id: 'postponed' }, { id: 'changed' });
    const job = await Job.start({
      handle: async ({ id }) => {
        handled.push(id);
        if (id === 'changed')
          await db
            .updateTable('thing')
            .set({ due_at: at(5) })
            .where('id', '=', id)
            .execute();
        return id === 'kept' ? 'keep' : id === 'postponed' ? new Date(now + MINUTE_MS) : 'remove';
      },
    });
    expect(await job.sweep()).toBe(3);
    expect(await left()).toEqual(['changed', 'kept', 'postponed']);
    handled = [];
    expect(await job.sweep()).toBe(1);
    now += MINUTE_MS;
    await job.sweep();
    expect(handled).toEqual(['kept', 'kept', 'postponed']);
  });

  it('that fail hold up no other, are tried again after a back-off of their own, and leave the process ready', async () => {
    const failing = Array.from({ length: 600 }, (_, n) => `a${String(n).padStart(3, '0')}`);
    await add(...failing.map((id) => ({ id, due_at: at(-1) })), { id: 'b' });
    const job = await Job.start({ handle: failingFor(...failing) });
    expect(await job.sweep()).toBe(1);
    expect(handled).toEqual([...failing, 'b']);
    expect(await left()).toEqual(failing);
    expect(job.shown).toBe('thing not handled (600), the last one: a599 is wrong');
    handled = [];
    expect(await job.sweep()).toBe(0);
    expect(handled).toEqual([]);
    now += MINUTE_MS;
    await job.sweep();
    expect(handled.toSorted()).toEqual(failing);
    // Half of a pause is random.
    now += MINUTE_MS;
    handled = [];
    await job.sweep();
    expect(handled.length).toBeLessThan(600);
  });

  it('that succeed at last are shown no more', async () => {
    await add({ id: 'a' });
    const fails = ['a'];
    const job = await Job.start({ handle: (row) => failingFor(...fails)(row) });
    await job.sweep();
    fails.length = 0;
    now += MINUTE_MS;
    expect(await job.sweep()).toBe(1);
    expect([await left(), job.shown]).toEqual([[], undefined]);
  });

  it('are handled in spite of an outage for one, which fails the run and moves no row; one for all ends it', async () => {
    await add({ id: 'a', due_at: at(-1) }, { id: 'b' });
    const job = await Job.start({
      handle: async ({ id }) => {
        handled.push(id);
        if (id === 'a') throw new EventStoreUnavailable('away');
        return 'remove';
      },
    });
    await expect(job.sweep()).rejects.toThrow('away');
    expect([handled, await left(), job.shown]).toEqual([['a', 'b'], ['a'], undefined]);
    await add(...Array.from({ length: 700 }, (_, n) => ({ id: `m${n}` })));
    handled = [];
    const away = await Job.start({
      handle: async ({ id }) => {
        handled.push(id);
        throw new EventStoreUnavailable('away');
      },
    });
    await expect(away.sweep()).rejects.toThrow('away');
    expect(handled.length).toBe(500);
  });

  it('are not handled any more once the lease is lost; what was handled before is removed', async () => {
    await add({ id: 'a', due_at: at(-1) }, { id: 'b' });
    const term = { isHeld: true };
    const job = await Job.start({
      handle: async ({ id }) => {
        handled.push(id);
        term.isHeld = false;
        return 'remove';
      },
    });
    expect(await job.sweep(term)).toBe(1);
    expect([handled, await left()]).toEqual([['a'], ['b']]);
    const stale = await Job.start({ handle: () => Promise.reject(new StaleEpoch('late')) });
    await expect(stale.sweep()).rejects.toThrow(StaleEpoch);
    expect([await left(), stale.shown]).toEqual([['b'], undefined]);
  });

  it('are prepared by tenant: a failure is that of each row of the tenant', async () => {
    await add({ id: 'a', tenant_id: 's' }, { id: 'b' }, { id: 'c' }, { id: 'd', tenant_id: 's' });
    const prepared: unknown[] = [];
    const job = await Job.start({
      prepare: async (tenantId, rows) => {
        prepared.push([tenantId, rows.map(({ id }) => id)]);
        if (tenantId === 's') throw new Error('no keys');
      },
    });
    expect(await job.sweep()).toBe(2);
    expect([prepared, handled, await left()]).toEqual([
      [
        ['s', ['a', 'd']],
        ['t', ['b', 'c']],
      ],
      ['b', 'c'],
      ['a', 'd'],
    ]);
    expect(job.shown).toBe('thing not handled (2), the last one: no keys');
  });

  it('have a further condition', async () => {
    await add({ id: 'a' }, { id: 'b', until: at(-1) }, { id: 'c', until: at(1) });
    await (await Job.start({ also: { column: 'until', is: 'null' } })).sweep();
    await (await Job.start({ also: { column: 'until', is: 'due' } })).sweep();
    expect([handled, await left()]).toEqual([['a', 'b'], ['c']]);
    await (await Job.start({ dueUpTo: () => undefined })).sweep();
    expect(await left()).toEqual(['c']);
  });

  it('are not read while events are not projected yet, or the tables are those of another version', async () => {
    await add({ id: 'a' });
    expect(await (await Job.start({}, { readsOwnVersion: false })).sweep()).toBe(0);
    expect(await (await Job.start({}, { waitForHead: () => Promise.resolve(false) }, 1)).sweep()).toBe(0);
    expect(await left()).toEqual(['a']);
  });
});
