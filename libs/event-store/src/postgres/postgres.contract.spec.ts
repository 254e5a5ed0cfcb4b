import { findPostgres, PostgresServer, skipSuite } from '@attestry/testing';
import { describeEventStore } from '../event-store.contract.js';
import { migratePostgresEvents, openPostgresEvents } from './load-postgres.js';

const programs = findPostgres();

if (programs === undefined) {
  skipSuite('event store: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('event store: PostgreSQL', () => undefined);
} else {
  let server: PostgresServer;
  let tests = 0;
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
  }, 60_000);
  afterAll(() => server.stop());

  describeEventStore('PostgreSQL', async () => {
    const options = { url: server.url(), schema: `test${++tests}` };
    await migratePostgresEvents(options, { events: true });
    const failures: Error[] = [];
    const open = () => openPostgresEvents({ ...options, onFailure: (error) => void failures.push(error) });
    let store = await open();
    return {
      store,
      leases: store.leases,
      async reopen() {
        await store.close();
        store = await open();
        return { store, leases: store.leases };
      },
      async close() {
        await store.close();
        expect(failures).toEqual([]);
      },
    };
  });
}
