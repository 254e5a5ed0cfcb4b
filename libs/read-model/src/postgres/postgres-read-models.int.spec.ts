import { randomUUID } from 'node:crypto';
import { CHAIN_START, chainEvent, migratePostgresEvents, openPostgresEvents } from '@attestry/event-store';
import type { EventStore, Leases, NewEvent } from '@attestry/event-store';
import { findPostgres, PostgresServer, SilentProxy, skipSuite, waitUntil } from '@attestry/testing';
import { sql, type Kysely } from 'kysely';
import pg from 'pg';
import { insertRows } from '../insert-rows.js';
import { migrate } from '../migrate.js';
import { ProjectionRegistry, type RegistryTables } from '../projection-registry.js';
import { ReadModelUnavailable, type Projection } from '../read-model.js';
import { migratePostgresReadModels } from './load-postgres.js';
import { openPostgresDatabase, sqliteTypes } from './postgres-dialect.js';
import { PostgresReadModels, type PostgresReadModelsOptions } from './postgres-read-models.js';

const programs = findPostgres();

interface Tables {
  item: { id: string; n: number | null; text: string | null };
  total: { name: string; n: number };
}

const items = (during?: () => Promise<void>): Projection<Tables> => ({
  name: 'items',
  version: 1,
  categories: ['item'],
  types: ['ItemAdded'],
  tables: ['item', 'total'],
  async create(db) {
    await db.schema
      .createTable('item')
      .addColumn('id', 'text', (c) => c.primaryKey())
      .addColumn('n', 'integer')
      .addColumn('text', 'text')
      .execute();
    await db.schema
      .createTable('total')
      .addColumn('name', 'text', (c) => c.primaryKey())
      .addColumn('n', 'integer', (c) => c.notNull())
      .execute();
  },
  async project(trx, events) {
    await insertRows(
      trx,
      'item',
      events.map(({ id, data }) => ({ id, n: (data as { n: number }).n, text: null })),
    );
    await during?.();
    await trx
      .insertInto('total')
      .values({ name: 'items', n: events.length })
      .onConflict((c) => c.column('name').doUpdateSet((e) => ({ n: e('total.n', '+', events.length) })))
      .execute();
  },
});

if (programs === undefined) {
  skipSuite('PostgresReadModels', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('PostgresReadModels', () => undefined);
} else {
  describe('PostgresReadModels', () => {
    let server: PostgresServer;
    let events: EventStore & { leases: Leases };
    let schema: string;
    let tests = 0;
    let serial = 0;
    const opened: PostgresReadModels[] = [];
    const lost: Error[] = [];

    const open = async (options: Partial<PostgresReadModelsOptions> = {}) => {
      const readModels = await PostgresReadModels.connect({
        url: server.url('service'),
        schema: `${schema}_read`,
        eventStore: events,
        leases: events.leases,
        leaseTtlMs: 500,
        onDatabaseFailure: (error) => void lost.push(error),
        ...options,
      });
      opened.push(readModels);
      return readModels;
    };

    /** Waits while the store is unreachable; an append is repeated under the same ids, so none is stored twice. */
    const add = async (count: number) => {
      const added = Array.from({ length: count }, (): NewEvent =>
        chainEvent(CHAIN_START, {
          id: randomUUID(),
          type: 'ItemAdded',
          schemaVersion: 1,
          data: { n: serial++ },
          metadata: {
            tenantId: 't',
            requestId: 'r',
            actor: 'service:spec',
            operation: 'spec',
            correlationId: 'r',
            causationId: 'r',
            occurredAt: '2026-01-01T00:00:00.000Z',
            partitionKey: 't',
          },
        }),
      );
      const stream = `item-t+${randomUUID()}`;
      const append = () => events.append(stream, added, -1);
      return (await waitUntil(append, { timeoutMs: 20_000, what: 'an append' })).position;
    };

    const content = async ({ db }: { db: Kysely<Tables> }) => {
      const rows = await db.selectFrom('item').select('n').orderBy('n').execute();
      const total = await db.selectFrom('total').select('n').executeTakeFirst();
      return { numbers: rows.map(({ n }) => n), total: total?.n ?? 0 };
    };
    const all = () => ({ numbers: Array.from({ length: serial }, (_, n) => n), total: serial });

    beforeAll(async () => {
      server = await PostgresServer.start(programs);
      const admin = new pg.Client(server.url());
      await admin.connect();
      await admin.query('CREATE ROLE service LOGIN');
      await admin.end();
    }, 60_000);
    afterAll(() => server.stop());

    beforeEach(async () => {
      schema = `spec${++tests}`;
      serial = 0;
      lost.length = 0;
      await migratePostgresEvents({ url: server.url(), schema, serviceRole: 'service' }, { events: true });
      await migratePostgresReadModels({ url: server.url(), schema: `${schema}_read`, serviceRole: 'service' });
      events = await openPostgresEvents({
        url: server.url('service'),
        schema,
        onFailure: (error) => void lost.push(error),
      });
    });
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((readModels) => readModels.close()));
      await events.close();
    });

    it('refuses a database that was not migrated, and names the remedy', async () => {
      await expect(open({ schema: 'elsewhere' })).rejects.toThrow(/run "npm run migrate"/);
    });

    it('gives a service only the rights on the schema in which it creates tables', async () => {
      const client = new pg.Client(server.url('service'));
      await client.connect();
      try {
        const denied = [
          `DROP TABLE ${schema}_read.projection`,
          `ALTER TABLE ${schema}_read.projection_checkpoint ADD COLUMN mine text`,
          `CREATE TABLE ${schema}.mine (n integer)`,
          `CREATE SCHEMA mine`,
        ];
        for (const statement of denied)
          await expect(client.query(statement)).rejects.toThrow(/permission denied|must be owner/);
      } finally {
        await client.end();
      }
    });

    it('is migrated by several processes at once, and repeatedly', async () => {
      const options = { url: server.url(), schema: `${schema}_new`, serviceRole: 'service' };
      await Promise.all(Array.from({ length: 5 }, () => migratePostgresReadModels(options)));
      await migratePostgresReadModels(options);
      await (await open({ schema: `${schema}_new` })).start(items());
    });

    it('starts the same projection in several processes at once', async () => {
      const several = await Promise.all(Array.from({ length: 5 }, () => open()));
      const running = await Promise.all(several.map((readModels) => readModels.start(items())));
      await add(10);
      expect(await Promise.all(running.map((one) => one.waitForHead(10_000)))).not.toContain(false);
      for (const one of running) expect(await content(one)).toEqual(all());
    });

    it('recovers from a restart of the server during a batch: unhealthy meanwhile, nothing lost or duplicated', async () => {
      const entered = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const readModels = await open({ batchSize: 50 });
      let batches = 0;
      const running = await readModels.start(
        items(async () => {
          if (++batches !== 2) return;
          entered.resolve();
          await gate.promise;
        }),
      );
      await add(120);
      await entered.promise;
      await server.kill();
      gate.resolve();
      await waitUntil(() => !running.health.healthy, { what: 'the failure to show' });
      await expect(content(running)).rejects.toThrow(ReadModelUnavailable);
      await server.restart();
      const last = await add(30);
      await waitUntil(() => running.waitFor(last, 1000), { timeoutMs: 15_000, what: 'the projection to go on' });
      await waitUntil(() => running.health.healthy, { what: 'health' });
      expect(await content(running)).toEqual(all());
    }, 60_000);

    it('reads the position from its tables, not from memory: a crash of the server reverts the last batches', async () => {
      const readModels = await open();
      const running = await readModels.start(items());
      const kept = await add(40);
      expect(await running.waitFor(kept, 5000)).toBe(true);
      await add(20);
      expect(await running.waitForHead(5000)).toBe(true);
      // The server crashed before the batch was on disk (`synchronous_commit` is off for them).
      const client = new pg.Client(server.url('service'));
      await client.connect();
      await running.db.deleteFrom('item').where('n', '>=', 40).execute();
      await running.db.updateTable('total').set({ n: 40 }).execute();
      await client.query(`UPDATE ${schema}_read.projection_checkpoint SET position = $1`, [kept]);
      await client.end();
      expect(await running.waitForHead(300)).toBe(false);
      await add(1);
      await waitUntil(() => running.waitForHead(1000), { timeoutMs: 15_000, what: 'the projection to go on' });
      expect(await content(running)).toEqual(all());
    }, 60_000);

    it('refuses a batch that started before its holder was paused for longer than its lease', async () => {
      const entered = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      const failures: string[] = [];
      const stopped = await open({
        // It does not detect the expiry itself, and its transaction is open.
        leaseTtlMs: 60_000,
        timeoutMs: 700,
        onFailure: (_projection, error) => failures.push(error.message),
      });
      let once = true;
      const older = await stopped.start(
        items(async () => {
          if (!once) return;
          once = false;
          entered.resolve();
          await gate.promise;
        }),
      );
      await add(5);
      await entered.promise;
      // The lease has run out.
      const client = new pg.Client(server.url());
      await client.connect();
      await client.query(`UPDATE ${schema}.leases SET expires_at = 0`);
      await client.end();

      const newer = await (await open()).start(items());
      const last = await add(5);
      await waitUntil(() => newer.waitFor(last, 1000), { timeoutMs: 15_000, what: 'the successor' });
      expect(await content(newer)).toEqual(all());
      gate.resolve();
      await waitUntil(() => failures.length > 0, { what: 'the stopped holder to be turned away' });
      const later = await add(5);
      await waitUntil(() => newer.waitFor(later, 1000), { timeoutMs: 15_000, what: 'the successor' });
      expect(await content(newer)).toEqual(all());
      expect(await content(older)).toEqual(all());
    }, 60_000);

    it('closes unresponsive connections, and continues over new ones', async () => {
      const proxy = await SilentProxy.to(server.port);
      try {
        const url = server.url('service').replace(`:${server.port}`, `:${proxy.port}`);
        const running = await (await open({ url, timeoutMs: 300, batchSize: 10 })).start(items());
        await add(10);
        expect(await running.waitForHead(10_000)).toBe(true);
        proxy.silence();
        await waitUntil(() => !running.health.healthy, { what: 'the failure to show' });
        await expect(content(running)).rejects.toThrow(ReadModelUnavailable);
        proxy.speak();
        const last = await add(25);
        await waitUntil(() => running.waitFor(last, 1000), { timeoutMs: 20_000, what: 'the projection to go on' });
        expect(await content(running)).toEqual(all());
      } finally {
        await proxy.close();
      }
    }, 60_000);

    it('does not switch to tables that are behind a concurrent batch', async () => {
      const url = `${server.url()}?options=-c search_path=${schema}_read`;
      const pool = new pg.Pool({ connectionString: url, types: sqliteTypes });
      try {
        const db = openPostgresDatabase<RegistryTables>(pool);
        const registry = new ProjectionRegistry(db);
        const old = await registry.openGeneration(items());
        await registry.takeOver(items(), 1);
        const fresh = await registry.requestRebuild(items());
        for (const g of [old, fresh])
          await db.transaction().execute((trx) => registry.advance(trx, g, 1, undefined, '5'));
        const batch = await db.startTransaction().execute();
        await registry.advance(batch, old, 1, '5', '6');
        const switching = registry.switchTo(fresh, 1, 0, async (position) => position === '5');
        const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`;
        await waitUntil(async () => (await pool.query(waits)).rowCount, { what: 'the switch to wait' });
        await batch.commit().execute();
        expect(await switching).toBe(false);
        expect(await registry.current('items')).toMatchObject({ generation: old.generation, position: '6' });
      } finally {
        await pool.end();
      }
    });

    describe('values', () => {
      const rows = async (insert: (db: Kysely<Tables>) => Promise<unknown>) => {
        const running = await (await open()).start(items());
        await insert(running.db);
        return running.db.selectFrom('item').selectAll().orderBy('id').execute();
      };
      const given: Tables['item'][] = [
        { id: 'B', n: 9_007_199_254_740_991, text: 'quote " \' \\ \\u0000 é 💶 {"json":[1]}' },
        { id: 'a', n: -1, text: '123' },
        { id: 'ä', n: null, text: null },
        { id: '漢', n: 0, text: '' },
      ];

      it.each([
        ['bound', (db: Kysely<Tables>) => db.insertInto('item').values(given).execute()],
        ['as JSON', (db: Kysely<Tables>) => db.transaction().execute((trx) => insertRows(trx, 'item', given))],
      ])('are stored as in SQLite, %s; text is ordered byte by byte', async (_how, insert) => {
        expect(await rows(insert)).toEqual(given);
      });

      it('that PostgreSQL text cannot represent are neither stored nor an error', async () => {
        const odd = { id: 'a\0b', n: 1, text: 'half \ud800' };
        const both = async (db: Kysely<Tables>) => {
          await db.transaction().execute((trx) => insertRows(trx, 'item', [odd]));
          await db
            .insertInto('item')
            .values({ ...odd, id: 'c\0d' })
            .execute();
          expect(await db.selectFrom('item').select('n').where('id', '=', 'a\0').execute()).toEqual([]);
        };
        expect(await rows(both)).toEqual([
          { id: 'a\ufffdb', n: 1, text: 'half \ufffd' },
          { id: 'c\ufffdd', n: 1, text: 'half \ufffd' },
        ]);
      });

      it('are numbers for counts, and 1 for true', async () => {
        const running = await (await open()).start(items());
        await running.db
          .insertInto('item')
          .values([{ id: 'a', n: true as unknown as number, text: null }])
          .execute();
        const answer = await running.db
          .selectFrom('item')
          .select((e) => [e.fn.countAll().as('count'), e.fn.sum('n').as('sum'), e.fn.max('n').as('max')])
          .select(sql`max(n) = 1`.as('truth'))
          .executeTakeFirstOrThrow();
        expect(answer).toEqual({ count: 1, sum: 1, max: 1, truth: 1 });
        const large = running.db.selectFrom('item').select(sql`n + 9007199254740991`.as('n'));
        await expect(large.execute()).rejects.toThrow('too large');
      });

      it('skips existing rows, and accepts more rows than a statement has parameters', async () => {
        const many = Array.from({ length: 40_000 }, (_, n) => ({
          id: `i${String(n).padStart(5, '0')}`,
          n,
          text: null,
        }));
        const stored = await rows((db) =>
          db.transaction().execute(async (trx) => {
            await insertRows(trx, 'item', [{ id: 'i00001', n: 7, text: 'first' }]);
            await insertRows(trx, 'item', many);
            await insertRows(trx, 'item', []);
          }),
        );
        expect(stored).toHaveLength(40_000);
        expect(stored[1]).toEqual({ id: 'i00001', n: 7, text: 'first' });
      });
    });

    it('reports an error of the server as its own, without the statement', async () => {
      const running = await (await open()).start(items());
      await running.db.insertInto('item').values({ id: 'secret', n: 1, text: null }).execute();
      const again = running.db.insertInto('item').values({ id: 'secret', n: 1, text: null }).execute();
      const error = await again.catch((cause: Error) => cause);
      expect(error).toBeInstanceOf(ReadModelUnavailable);
      expect((error as Error).message).not.toContain('secret');
    });

    it('rolls a failed transaction back, also to a savepoint, and continues', async () => {
      const { db } = await (await open()).start(items());
      const row = (id: string) => ({ id, n: 1, text: null });
      const failing = db.transaction().execute(async (trx) => {
        await trx.insertInto('item').values(row('a')).execute();
        await trx.insertInto('item').values(row('a')).execute();
      });
      await expect(failing).rejects.toThrow(ReadModelUnavailable);
      const trx = await db.startTransaction().execute();
      await trx.insertInto('item').values(row('b')).execute();
      const nested = await trx.savepoint('one').execute();
      await nested.insertInto('item').values(row('c')).execute();
      await nested.rollbackToSavepoint('one').execute();
      await trx.commit().execute();
      expect(await db.selectFrom('item').select('id').execute()).toEqual([{ id: 'b' }]);
    });

    it('runs migrations of other tables once, for several processes at once', async () => {
      const pool = new pg.Pool({ connectionString: `${server.url()}?options=-c search_path=${schema}`, max: 8 });
      try {
        const runs: string[] = [];
        const steps = ['a', 'b'].map((name) => ({ name, up: async () => void runs.push(name) }));
        await Promise.all(Array.from({ length: 6 }, () => migrate(openPostgresDatabase(pool), 'other', steps)));
        expect(runs).toEqual(['a', 'b']);
      } finally {
        await pool.end();
      }
    });
  });
}
