import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedEventStore } from '@attestry/event-store';
import { findPostgres, PostgresServer, skipSuite } from '@attestry/testing';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import { describeReadModels } from '../read-model.contract.js';
import { migratePostgresReadModels } from './load-postgres.js';
import { PostgresReadModels } from './postgres-read-models.js';

const programs = findPostgres();

if (programs === undefined) {
  skipSuite('read models: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('read models: PostgreSQL', () => undefined);
} else {
  let server: PostgresServer;
  let admin: pg.Client;
  let tests = 0;
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
    admin = new pg.Client(server.url());
    await admin.connect();
    // Services connect as a role that may do no more than it was granted.
    await admin.query('CREATE ROLE service LOGIN');
  }, 60_000);
  afterAll(async () => {
    await admin.end();
    await server.stop();
  });

  describeReadModels('PostgreSQL', async () => {
    const schema = `test${++tests}`;
    await migratePostgresReadModels({ url: server.url(), schema, serviceRole: 'service' });
    const folder = await mkdtemp(join(tmpdir(), 'attestry-read-model-'));
    const eventStore = await EmbeddedEventStore.openFile({ file: join(folder, 'events.db') });
    const { leases } = eventStore;
    const failures: Error[] = [];
    return {
      eventStore,
      leases,
      open: (options) =>
        PostgresReadModels.connect({
          url: server.url('service'),
          schema,
          eventStore,
          leases,
          onDatabaseFailure: (error) => void failures.push(error),
          ...options,
        }),
      async tables() {
        const { rows } = await admin.query<{ name: string }>(
          'SELECT tablename AS name FROM pg_tables WHERE schemaname = $1',
          [schema],
        );
        return rows.map(({ name }) => name);
      },
      sorts: (db, { sql, parameters }) =>
        db.transaction().execute(async (trx) => {
          // In a small table it would rather read all: the question is whether the index can give the order.
          for (const way of ['seqscan', 'bitmapscan', 'sort'])
            await trx.executeQuery(CompiledQuery.raw(`set local enable_${way} to off`));
          const { rows } = await trx.executeQuery<Record<string, string>>(
            CompiledQuery.raw(`explain ${sql}`, [...parameters]),
          );
          return rows.some((row) => row['QUERY PLAN']!.includes('Sort'));
        }),
      async close() {
        expect(failures).toEqual([]);
        await eventStore.close();
        await rm(folder, { recursive: true });
        await admin.query(`DROP SCHEMA ${schema} CASCADE`);
      },
    };
  });
}
