import { findPostgres, PostgresServer, skipSuite } from '@attestry/testing';
import pg from 'pg';
import { describeKeyVault } from '../keys.contract.js';
import { migratePostgresKeys, openPostgresKeyVault } from './load-postgres.js';

const programs = findPostgres();

if (programs === undefined) {
  skipSuite('KeyVault: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('KeyVault: PostgreSQL', () => undefined);
} else {
  let server: PostgresServer;
  let tests = 0;
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
    const admin = new pg.Client(server.url());
    await admin.connect();
    await admin.query('CREATE ROLE service LOGIN');
    await admin.end();
  }, 60_000);
  afterAll(() => server.stop());

  describeKeyVault('PostgreSQL', async () => {
    const schema = `test${++tests}`;
    await migratePostgresKeys({ url: server.url(), schema, serviceRole: 'service' });
    const failures: Error[] = [];
    const current = { version: 1, key: new Uint8Array(32).fill(7) };
    return {
      open: () =>
        openPostgresKeyVault({
          url: server.url('service'),
          schema,
          masterKeys: { current },
          onFailure: (error) => void failures.push(error),
        }),
      async remove() {
        expect(failures).toEqual([]);
      },
    };
  });
}
