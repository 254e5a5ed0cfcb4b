import type { ColumnType, CompiledQuery, Kysely, KyselyPlugin, SelectQueryBuilder } from 'kysely';
import { CHAIN_START, chainEvent, Leases } from '@attestry/event-store';
import type { EventStore, Lease, NewEvent, RecordedEvent } from '@attestry/event-store';
import { CursorCodec, InvalidCursor, page } from './cursor.js';
import type { KyselyReadModels, ReadModelOptions } from './kysely-read-models.js';
import type { RawProjection, SelectiveProjection } from './read-model.js';

/** Provided by a dialect: a separate database for every test. */
export interface ReadModelsUnderTest {
  eventStore: EventStore;
  leases: Leases;
  /** Read models as one more process would open them on the same database. The suite closes them. */
  open(options?: Partial<ReadModelOptions>): Promise<KyselyReadModels>;
  /** Names of all tables there are. */
  tables(db: Kysely<unknown>): Promise<string[]>;
  /** Whether the engine would sort to answer the query, where an index might give the order. */
  sorts(db: Kysely<unknown>, query: CompiledQuery): Promise<boolean>;
  /** Removes the data; all read models are closed by then. */
  close(): Promise<void>;
}

interface ThingTables {
  thing: { id: string; label: string; created_at: string };
  tally: { name: string; total: ColumnType<number, number, number> };
}

const created = (serial: number) => new Date(Date.UTC(2026, 0, 1) + Math.floor(serial / 3)).toISOString();
const idOf = (serial: number) => `00000000-0000-4000-8000-${serial.toString(16).padStart(12, '0')}`;

class Things {
  private serial = 0;
  private readonly revisions = new Map<string, number>();
  constructor(private readonly store: EventStore) {}

  async add(count: number, options: { type?: string; category?: string } = {}): Promise<string> {
    const { type = 'ThingAdded', category = 'thing' } = options;
    const stream = `${category}-t1+s`;
    const events = Array.from({ length: count }, (): NewEvent => {
      const n = this.serial++;
      return chainEvent(CHAIN_START, {
        id: idOf(n),
        type,
        schemaVersion: 1,
        data: { label: `label ${n}`, createdAt: created(n) },
        metadata: {
          tenantId: 't1',
          requestId: 'r1',
          actor: 'service:contract',
          operation: 'contract.test',
          correlationId: 'r1',
          causationId: 'r1',
          occurredAt: created(n),
          partitionKey: 't1',
        },
      });
    });
    const result = await this.store.append(stream, events, this.revisions.get(stream) ?? -1);
    this.revisions.set(stream, result.revision);
    return result.position;
  }
}

type Hook = (events: readonly RecordedEvent[], generationTrx: unknown) => void | Promise<void>;

/** One row per event, and a count that a batch applied twice would spoil. */
const things = (
  options: Partial<SelectiveProjection<ThingTables>> & {
    before?: Hook;
    after?: Hook;
    label?: (text: string) => string;
  } = {},
): SelectiveProjection<ThingTables> => {
  const { before, after, label = (text: string) => text, ...rest } = options;
  return {
    name: 'things',
    version: 1,
    categories: ['thing'],
    types: ['ThingAdded'],
    tables: ['thing', 'tally'],
    async create(db) {
      await db.schema
        .createTable('thing')
        .addColumn('id', 'text', (c) => c.primaryKey())
        .addColumn('label', 'text', (c) => c.notNull())
        .addColumn('created_at', 'text', (c) => c.notNull())
        .execute();
      await db.schema.createIndex('thing_by_time').on('thing').columns(['created_at', 'id']).execute();
      await db.schema
        .createTable('tally')
        .addColumn('name', 'text', (c) => c.notNull())
        .addColumn('total', 'integer', (c) => c.notNull())
        .addPrimaryKeyConstraint('tally_pk', ['name'])
        .execute();
    },
    async project(trx, events) {
      await before?.(events, trx);
      await trx
        .insertInto('thing')
        .values(
          events.map(({ id, data }) => {
            const thing = data as { label: string; createdAt: string };
            return { id, label: label(thing.label), created_at: thing.createdAt };
          }),
        )
        .execute();
      await trx
        .insertInto('tally')
        .values({ name: 'things', total: events.length })
        .onConflict((c) => c.column('name').doUpdateSet((e) => ({ total: e('tally.total', '+', events.length) })))
        .execute();
      await after?.(events, trx);
    },
    ...rest,
  };
};

const totalOf = async (running: { db: Kysely<ThingTables> }): Promise<number> =>
  (await running.db.selectFrom('tally').select('total').executeTakeFirst())?.total ?? 0;

const countOf = async (running: { db: Kysely<ThingTables> }): Promise<number> =>
  Number(
    (
      await running.db
        .selectFrom('thing')
        .select((e) => e.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  );

const until = async (condition: () => boolean | Promise<boolean>, what: string, timeoutMs = 10_000): Promise<void> => {
  const end = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
};

/** Records the granted leases, so that a test can revoke one as if it had expired. */
class WatchedLeases extends Leases {
  granted: Lease | undefined;
  released = 0;
  constructor(private readonly inner: Leases) {
    super();
  }
  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    this.granted = (await this.inner.acquire(name, holder, ttlMs)) ?? this.granted;
    return this.granted && (await this.inner.isHeld(this.granted)) ? this.granted : undefined;
  }
  renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    return this.inner.renew(lease, ttlMs);
  }
  async release(lease: Lease): Promise<void> {
    this.released += 1;
    await this.inner.release(lease);
  }
  isHeld(lease: Lease): Promise<boolean> {
    return this.inner.isHeld(lease);
  }
}

/** The suite that every dialect passes. */
export const describeReadModels = (name: string, setUp: () => Promise<ReadModelsUnderTest>): void => {
  describe(`read models: ${name}`, () => {
    let under: ReadModelsUnderTest;
    let store: Things;
    let opened: KyselyReadModels[];

    const open = async (options: Partial<ReadModelOptions> = {}) => {
      const readModels = await under.open({ backOff: { firstMs: 5, maxMs: 20 }, ...options });
      opened.push(readModels);
      return readModels;
    };

    beforeEach(async () => {
      under = await setUp();
      store = new Things(under.eventStore);
      opened = [];
    });
    afterEach(async () => {
      await Promise.all(opened.map((readModels) => readModels.close()));
      await under.close();
    });

    describe('projecting', () => {
      it('projects stored and new events, in batches of the requested size', async () => {
        const sizes: number[] = [];
        await store.add(2500);
        const readModels = await open({ batchSize: 1024 });
        const running = await readModels.start(things({ before: (events) => void sizes.push(events.length) }));
        expect(await running.waitForHead(10_000)).toBe(true);
        expect(sizes).toEqual([1024, 1024, 452]);
        const position = await store.add(3);
        expect(await running.waitFor(position, 5000)).toBe(true);
        expect(await totalOf(running)).toBe(2503);
        expect(running.health).toEqual({ name: 'things', healthy: true, position, caughtUp: true });
      });

      it('continues from the checkpoint in the next process', async () => {
        await store.add(10);
        const first = await open();
        expect(await (await first.start(things())).waitForHead(5000)).toBe(true);
        await first.close();
        await store.add(5);
        const seen: number[] = [];
        const second = await open();
        const running = await second.start(things({ before: (events) => void seen.push(events.length) }));
        expect(await running.waitForHead(5000)).toBe(true);
        expect(seen).toEqual([5]);
        expect(await totalOf(running)).toBe(15);
      });

      it('does not continue from a checkpoint beyond the log, and reports it', async () => {
        const older = await store.add(3);
        const newer = await store.add(2);
        const first = await open();
        expect(await (await first.start(things())).waitForHead(5000)).toBe(true);
        await first.close();
        const restored = Object.assign(Object.create(under.eventStore) as EventStore, { head: async () => older });
        const seen: number[] = [];
        const second = await open({ eventStore: restored });
        const running = await second.start(things({ before: (events) => void seen.push(events.length) }));
        await until(() => !running.health.healthy, 'the refusal');
        expect(running.health.error).toContain(`checkpoint ${newer} of things is beyond the head`);
        expect(seen).toEqual([]);
        expect(await second.checkpoints()).toEqual([{ name: 'things', position: newer }]);
      });

      it('is caught up although the newest events are of other categories', async () => {
        await store.add(2);
        await store.add(2, { category: 'other', type: 'OtherHappened' });
        const running = await (await open()).start(things());
        expect(await running.waitForHead(5000)).toBe(true);
        await until(() => running.health.caughtUp, 'caught up');
        const hidden = await store.add(1, { category: 'other', type: 'OtherHappened' });
        expect(await running.waitFor(hidden, 5000)).toBe(true);
        expect(await totalOf(running)).toBe(2);
      });

      it('applies every event once although batches fail after their rows were written', async () => {
        let batches = 0;
        const readModels = await open({ batchSize: 16 });
        await store.add(200);
        const running = await readModels.start(
          things({
            after() {
              if (++batches % 3 === 1) throw new Error('crash before commit');
            },
          }),
        );
        expect(await running.waitForHead(10_000)).toBe(true);
        expect(batches).toBeGreaterThan(13);
        expect(await totalOf(running)).toBe(200);
        expect(await countOf(running)).toBe(200);
      });

      it('waits for a position only while the lag is short', async () => {
        const gate = Promise.withResolvers<void>();
        const position = await store.add(1);
        const running = await (await open()).start(things({ before: () => gate.promise }));
        await until(() => !running.health.caughtUp && running.health.healthy, 'the batch to begin');
        expect(await running.waitFor(undefined, 0)).toBe(true);
        expect(await running.waitFor(position, 1)).toBe(false);
        gate.resolve();
        expect(await running.waitForHead(5000)).toBe(true);
        expect(await running.waitFor(position, 0)).toBe(true);
      });

      it('waits for the write of its caller as long as requested', async () => {
        const gate = Promise.withResolvers<void>();
        const before = () => gate.promise;
        const position = await store.add(1);
        const hasty = await (await open({ ownWriteMs: 1 })).start(things({ before }));
        expect([await hasty.ownWrite(position), await hasty.ownWrites()]).toEqual([false, false]);
        gate.resolve();
        expect(await hasty.waitForHead(5000)).toBe(true);
        expect([await hasty.ownWrite(position), await hasty.ownWrites()]).toEqual([true, true]);
      });

      it('waits for it for 250 ms by default', async () => {
        const gate = Promise.withResolvers<void>();
        const position = await store.add(1);
        const running = await (await open()).start(things({ before: () => gate.promise }));
        const beganAt = performance.now();
        expect(await running.ownWrite(position)).toBe(false);
        expect(performance.now() - beganAt).toBeGreaterThan(200);
        gate.resolve();
      });

      it('waits for a position while its lag is not known yet', async () => {
        const entered = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        const position = await store.add(1);
        const before = () => {
          entered.resolve();
          return gate.promise;
        };
        const running = await (await open()).start(things({ before }));
        await entered.promise;
        const waited = running.waitFor(position, 5000);
        gate.resolve();
        expect(await waited).toBe(true);
      });

      it('does not wait once it is known to be more than a batch behind', async () => {
        const second = Promise.withResolvers<void>();
        const gate = Promise.withResolvers<void>();
        const position = await store.add(6);
        let batches = 0;
        const before = () => {
          if (++batches === 1) return;
          second.resolve();
          return gate.promise;
        };
        const running = await (await open({ batchSize: 2 })).start(things({ before }));
        await second.promise;
        expect(await running.waitFor(position, 60_000)).toBe(false);
        gate.resolve();
        expect(await running.waitForHead(5000)).toBe(true);
      });

      it('refuses to start the same projection twice', async () => {
        const readModels = await open();
        await readModels.start(things());
        await expect(readModels.start(things())).rejects.toThrow('has already been started');
      });
    });

    describe('a raw projection', () => {
      it('receives every event as stored, of all categories and unknown types, once and in order', async () => {
        const received: RecordedEvent[] = [];
        await store.add(2);
        await store.add(2, { category: 'other', type: 'OtherHappened' });
        const readModels = await open({ batchSize: 3 });
        const running = await readModels.start(raw((events) => void received.push(...events)));
        expect(await running.waitForHead(5000)).toBe(true);
        await store.add(1, { type: 'ThingPainted' });
        const position = await store.add(1, { category: 'third', type: 'ThirdHappened' });
        expect(await running.waitFor(position, 5000)).toBe(true);
        expect(received).toEqual((await under.eventStore.readAll({ limit: 10 })).events);
        expect(received.map(({ type }) => type)).toEqual([
          'ThingAdded',
          'ThingAdded',
          'OtherHappened',
          'OtherHappened',
          'ThingPainted',
          'ThirdHappened',
        ]);
        expect(received[4]!.metadata).toMatchObject({ requestId: 'r1', operation: 'contract.test' });
        expect(running.health).toEqual({ name: 'raw', healthy: true, position, caughtUp: true });
      });

      it('commits the rows of a batch with the position at which it ends, or neither', async () => {
        const ends: string[] = [];
        let failures = 0;
        const position = await store.add(5);
        const readModels = await open({ batchSize: 2 });
        const running = await readModels.start(
          raw((_events, to) => {
            if (failures++ % 2 === 0) throw new Error('crash before commit');
            ends.push(to);
          }),
        );
        expect(await running.waitForHead(5000)).toBe(true);
        const { events } = await under.eventStore.readAll({ limit: 10 });
        expect(ends).toEqual([events[1]!.position, events[3]!.position, position]);
        expect(await running.db.selectFrom('sound').select('id').orderBy('id').execute()).toEqual(
          events.map(({ id }) => ({ id })),
        );
        expect(await readModels.checkpoints()).toEqual([{ name: 'raw', position }]);
      });

      it('is rebuilt beside the tables that are read', async () => {
        await store.add(3, { category: 'other', type: 'OtherHappened' });
        const running = await (await open()).start(raw(() => undefined));
        expect(await running.waitForHead(5000)).toBe(true);
        await running.db.deleteFrom('sound').execute();
        await running.rebuild();
        expect(await running.db.selectFrom('sound').select('id').execute()).toHaveLength(3);
      });
    });

    describe('failing', () => {
      it('stops only a faulty handler, reports it, and recovers', async () => {
        let broken = true;
        const failures: string[] = [];
        const readModels = await open({
          onFailure: (projection, error) => failures.push(`${projection}: ${error.message}`),
        });
        const faulty = await readModels.start(
          things({
            before() {
              if (broken) throw new Error('no such column');
            },
          }),
        );
        const sound = await readModels.start(things({ name: 'sound', tables: ['thing', 'tally'], ...renamed }));
        const position = await store.add(3);
        expect(await sound.waitForHead(5000)).toBe(true);
        await until(() => failures.length > 2, 'retries');
        expect(new Set(failures)).toEqual(new Set(['things: no such column']));
        expect(faulty.health).toEqual({ name: 'things', healthy: false, error: 'no such column', caughtUp: true });
        expect(await faulty.waitFor(position, 60_000)).toBe(false);
        expect(readModels.health().map(({ healthy }) => healthy)).toEqual([false, true]);
        broken = false;
        expect(await faulty.waitForHead(5000)).toBe(true);
        expect(await totalOf(faulty)).toBe(3);
        await until(() => faulty.health.healthy, 'health');
      });

      it('stops at an unknown event type and releases the lease for a release that knows it', async () => {
        await store.add(2);
        await store.add(1, { type: 'ThingPainted' });
        await store.add(1);
        const older = await open({ leaseTtlMs: 60 });
        const stopped = await older.start(things());
        await until(() => stopped.health.error !== undefined, 'the stop');
        expect(stopped.health.error).toContain('ThingPainted');
        expect(stopped.health).toMatchObject({ healthy: true, caughtUp: false });
        expect(await totalOf(stopped)).toBe(2);

        const newer = await open({ leaseTtlMs: 60 });
        const going = await newer.start(things({ types: ['ThingAdded', 'ThingPainted'] }));
        expect(await going.waitForHead(5000)).toBe(true);
        expect(going.health.healthy).toBe(true);
        expect(await totalOf(stopped)).toBe(4);
      });

      it('remains ready when a newer release writes events that it does not know', async () => {
        const models = await open({ leaseTtlMs: 60 });
        const older = await models.start(things());
        await store.add(1);
        expect(await older.waitForHead(5000)).toBe(true);
        await store.add(1, { type: 'ThingPainted' });
        await until(() => older.health.error !== undefined, 'the stop');
        expect(older.health).toMatchObject({ healthy: true, caughtUp: true });
      });
    });

    describe('competing', () => {
      it('lets one of two processes project; the other reads and takes over', async () => {
        const calls: string[] = [];
        const a = await open();
        const first = await a.start(things({ before: () => void calls.push('a') }));
        await store.add(1);
        expect(await first.waitForHead(5000)).toBe(true);
        const b = await open({ leaseTtlMs: 60 });
        const second = await b.start(things({ before: () => void calls.push('b') }));
        const position = await store.add(2);
        expect(await second.waitFor(position, 5000)).toBe(true);
        expect(await totalOf(second)).toBe(3);
        expect(calls).not.toContain('b');
        await a.close();
        await store.add(4);
        expect(await second.waitForHead(5000)).toBe(true);
        expect(calls).toContain('b');
        expect(await totalOf(second)).toBe(7);
      });

      it('is ready beside a holder without progress, and takes over [T840]', async () => {
        await store.add(3);
        const other = (await under.leases.acquire('things', 'a process without progress', 60_000))!;
        const standby = await (await open({ leaseTtlMs: 60 })).start(things());
        await until(() => standby.health.caughtUp, 'the standby to be ready');
        expect(standby.health).toEqual({ name: 'things', healthy: true, caughtUp: true });
        expect(await countOf(standby)).toBe(0);
        await under.leases.release(other);
        expect(await standby.waitForHead(5000)).toBe(true);
        expect(await totalOf(standby)).toBe(3);
      });

      it.each([
        { held: 1, starting: 2 },
        { held: 2, starting: 1 },
      ])(
        'is ready with version $starting beside a holder of version $held, whose tables it reads, and takes over [T841]',
        async ({ held, starting }) => {
          const a = await open();
          const holder = await a.start(things({ version: held }));
          await store.add(2);
          expect(await holder.waitForHead(5000)).toBe(true);
          await a.close();
          const other = (await under.leases.acquire('things', 'a process without progress', 60_000))!;
          await store.add(1);
          const standby = await (await open({ leaseTtlMs: 60 })).start(things({ version: starting }));
          await until(() => standby.health.caughtUp, 'the standby to be ready');
          expect([standby.readsOwnVersion, standby.health.healthy]).toEqual([false, true]);
          expect(await totalOf(standby)).toBe(2);
          await under.leases.release(other);
          await until(() => standby.readsOwnVersion, 'its own tables to be read');
          expect(await standby.waitForHead(5000)).toBe(true);
          expect(await totalOf(standby)).toBe(3);
        },
      );

      it('knows the progress of the other process [T834]', async () => {
        const first = await (await open()).start(things());
        const second = await (await open({ leaseTtlMs: 60_000 })).start(things());
        for (const count of [1, 2]) {
          const position = await store.add(count);
          expect(await first.waitFor(position, 5000)).toBe(true);
          await until(async () => (await second.progress()) === position, 'the progress', 2000);
          expect(await first.progress()).toBe(position);
        }
      });

      it('fences a holder that has not detected the expiry of its lease', async () => {
        const leasesOfA = new WatchedLeases(under.leases);
        const calls = { a: 0, b: 0 };
        // A would notice by itself only after 20 s.
        const a = await open({ leases: leasesOfA, leaseTtlMs: 60_000 });
        const first = await a.start(things({ before: () => void (calls.a += 1) }));
        await store.add(1);
        expect(await first.waitForHead(5000)).toBe(true);

        await under.leases.release(leasesOfA.granted!);
        // B gets it at once, and keeps it on a busy machine too: A could rightly succeed to an expired lease.
        const b = await open({ leaseTtlMs: 60_000 });
        const second = await b.start(things({ before: () => void (calls.b += 1) }));
        let added = 1;
        while (calls.b === 0) {
          await store.add(1);
          added += 1;
          expect(await second.waitForHead(5000)).toBe(true);
        }
        const before = calls.a;
        await store.add(5);
        expect(await second.waitForHead(5000)).toBe(true);
        await until(() => leasesOfA.released === 1, 'A to step back');
        expect(calls.a).toBe(before);
        expect(await totalOf(first)).toBe(added + 5);
      });
    });

    describe('versions', () => {
      const tables = async (running: { db: Kysely<ThingTables> }) =>
        (await under.tables(running.db as Kysely<unknown>)).filter((name) => name.startsWith('thing')).sort();

      it('fills a new version beside the old one, switches, and drops the old one', async () => {
        await store.add(5);
        const old = await open();
        expect(await (await old.start(things())).waitForHead(5000)).toBe(true);
        await old.close();

        let held = true;
        // Long enough that a busy machine does not lose it: without the lease the old version would be content.
        const readModels = await open({ leaseTtlMs: 600, dropRetiredAfterMs: 0 });
        const running = await readModels.start(
          things({
            version: 2,
            label: (text) => text.toUpperCase(),
            after() {
              if (held) throw new Error('held');
            },
          }),
        );
        await until(() => running.health.error === 'held', 'the filling to begin');
        expect(await countOf(running)).toBe(5);
        expect((await running.db.selectFrom('thing').select('label').limit(1).executeTakeFirst())?.label).toMatch(/^l/);
        expect(await tables(running)).toEqual(['thing_v1', 'thing_v2']);
        expect(await running.waitForHead(1)).toBe(false);
        expect(running.readsOwnVersion).toBe(false);

        held = false;
        expect(await running.waitForHead(5000)).toBe(true);
        expect(running.readsOwnVersion).toBe(true);
        expect((await running.db.selectFrom('thing').select('label').limit(1).executeTakeFirst())?.label).toMatch(/^L/);
        expect(await countOf(running)).toBe(5);
        await until(async () => (await tables(running)).length === 1, 'the old tables to go');
        expect(await tables(running)).toEqual(['thing_v2']);
        expect(await running.waitFor(await store.add(1), 5000)).toBe(true);
        expect(await totalOf(running)).toBe(6);
      });

      it('rebuilds beside the tables that are read and written meanwhile', async () => {
        const first = await store.add(300);
        const readModels = await open({ leaseTtlMs: 60, dropRetiredAfterMs: 0, batchSize: 100 });
        let held = true;
        let filling = 0;
        const running = await readModels.start(
          things({
            before(events) {
              const again = under.eventStore.comparePositions(events[0]!.position, first) <= 0;
              if (again && filling++ >= 3 && held) throw new Error('held');
            },
          }),
        );
        expect(await running.waitForHead(5000)).toBe(true);
        await running.db.updateTable('thing').set({ label: 'spoilt' }).execute();

        const rebuilt = running.rebuild();
        await until(() => running.health.error === 'held', 'the filling to begin');
        await store.add(2);
        await until(async () => (await countOf(running)) === 302, 'the old tables to be fed');
        expect(
          await running.db.selectFrom('thing').select('id').where('label', '=', 'spoilt').limit(1).execute(),
        ).toHaveLength(1);

        held = false;
        await rebuilt;
        expect(await running.db.selectFrom('thing').select('id').where('label', '=', 'spoilt').execute()).toEqual([]);
        expect(await totalOf(running)).toBe(302);
        expect(await running.waitFor(await store.add(1), 5000)).toBe(true);
        expect(await totalOf(running)).toBe(303);
        await until(async () => (await tables(running)).length === 1, 'the old tables to go');
        expect(await tables(running)).toEqual(['thing_v1_g2']);
        expect(running.health.healthy).toBe(true);
      });

      it('never returns an older state while it switches under load', async () => {
        await store.add(500);
        const readModels = await open({ batchSize: 50 });
        const running = await readModels.start(things());
        expect(await running.waitForHead(5000)).toBe(true);
        let done = false;
        let seen = 0;
        const writing = (async () => {
          while (!done) {
            await store.add(7);
            // At the pace of the tables that are read: the filling must be able to overtake.
            await running.waitForHead(5000);
          }
        })();
        const reading = (async () => {
          while (!done) {
            const now = await totalOf(running);
            expect(now).toBeGreaterThanOrEqual(seen);
            seen = now;
          }
        })();
        await running.rebuild();
        done = true;
        await Promise.all([writing, reading]);
        expect(await running.waitForHead(5000)).toBe(true);
        expect(await totalOf(running)).toBe(await countOf(running));
      });
    });

    describe('paging', () => {
      const mac = (text: string) => Buffer.from(`k|${text}`).toString('hex');
      const codec = new CursorCodec({ mac, scope: 't1 things' });

      it.each(['asc', 'desc'] as const)(
        'neither repeats nor misses rows while others are inserted (%s)',
        async (direction) => {
          await store.add(50);
          const running = await (await open()).start(things());
          expect(await running.waitForHead(5000)).toBe(true);
          const before = await running.db.selectFrom('thing').select('id').execute();
          const seen: string[] = [];
          let cursor: string | undefined;
          let pages = 0;
          do {
            const query = running.db.selectFrom('thing').select(['id', 'created_at']);
            const got = await page(query, { limit: 7, cursor, codec, direction, contents: [] });
            expect(got.data.length).toBeGreaterThan(0);
            seen.push(...got.data.map((row) => row.id));
            cursor = got.nextCursor;
            if (pages++ < 3) expect(await running.waitFor(await store.add(5), 5000)).toBe(true);
          } while (cursor);
          expect(new Set(seen).size).toBe(seen.length);
          expect(seen).toEqual(expect.arrayContaining(before.map((row) => row.id)));
          expect(seen).toEqual(direction === 'asc' ? seen.toSorted() : seen.toSorted().reverse());
          expect(seen).toHaveLength(direction === 'asc' ? 65 : 50);
        },
      );

      it.each(['asc', 'desc'] as const)(
        'reads a page in the order of its index, without a sort (%s)',
        async (direction) => {
          await store.add(50);
          const running = await (await open()).start(things());
          expect(await running.waitForHead(5000)).toBe(true);
          const sorts = async <Row>(query: SelectQueryBuilder<ThingTables, 'thing', Row>, cursor?: string) => {
            const compiled: CompiledQuery[] = [];
            const watch: KyselyPlugin = {
              transformQuery({ node, queryId }) {
                compiled.push(running.db.withoutPlugins().getExecutor().compileQuery(node, queryId));
                return node;
              },
              transformResult: async ({ result }) => result,
            };
            await page(query.withPlugin(watch), {
              limit: 7,
              contents: ['label'],
              codec,
              direction,
              ...(cursor !== undefined && { cursor }),
            });
            // The sizes, then the contents.
            expect(compiled).toHaveLength(2);
            const db = running.db.withoutPlugins() as Kysely<unknown>;
            const [sizes, contents] = [await under.sorts(db, compiled[0]!), await under.sorts(db, compiled[1]!)];
            expect(sizes).toBe(contents);
            return contents;
          };
          const query = running.db.selectFrom('thing').select(['id', 'created_at']);
          expect(await sorts(query)).toBe(false);
          expect(await sorts(query, codec.encode({ time: created(20), id: idOf(60) }))).toBe(false);
          // It would be reported.
          expect(await sorts(query.orderBy('label'))).toBe(true);
        },
      );

      it('omits nextCursor on the last page, full or empty, and refuses the cursor of another list', async () => {
        await store.add(4);
        const running = await (await open()).start(things());
        expect(await running.waitForHead(5000)).toBe(true);
        const query = () => running.db.selectFrom('thing').select(['id', 'created_at']);
        const whole = await page(query(), { limit: 4, contents: [], codec });
        expect(whole.data).toHaveLength(4);
        expect('nextCursor' in whole).toBe(false);
        const cursor = codec.encode({ time: whole.data[3]!.created_at, id: whole.data[3]!.id });
        expect(await page(query(), { limit: 4, contents: [], codec, cursor })).toEqual({ data: [] });
        const foreign = new CursorCodec({ mac, scope: 't2 things' });
        await expect(page(query(), { limit: 4, contents: [], codec: foreign, cursor })).rejects.toThrow(InvalidCursor);
      });
    });
  });
};

/** One row per event, written before `after`. */
const raw = (
  after: (events: readonly RecordedEvent[], to: string) => void,
): RawProjection<{ sound: { id: string } }> => ({
  name: 'raw',
  version: 1,
  raw: true,
  tables: ['sound'],
  create: (db) =>
    db.schema
      .createTable('sound')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .execute(),
  async project(trx, events, to) {
    await trx
      .insertInto('sound')
      .values(events.map(({ id }) => ({ id })))
      .execute();
    after(events, to);
  },
});

/** Tables of the second projection in the same database. */
const renamed: Partial<SelectiveProjection<ThingTables>> = {
  tables: ['sound'] as never,
  async create(db) {
    await db.schema
      .createTable('sound')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .execute();
  },
  async project(trx, events) {
    const sound = trx as unknown as Kysely<{ sound: { id: string } }>;
    await sound
      .insertInto('sound')
      .values(events.map(({ id }) => ({ id })))
      .execute();
  },
};
