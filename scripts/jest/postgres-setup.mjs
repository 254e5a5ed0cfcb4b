// Services with keys and read models in PostgreSQL: one server for all specs; each uses its own schemas.
import pg from 'pg';
import { onTeardown, testKit } from './started.mjs';

export default async function setUp() {
  const { findPostgres, PostgresServer } = await testKit();
  const programs = findPostgres();
  if (programs === undefined) throw new Error('PostgreSQL is not installed (Debian: apt install postgresql)');
  // The machine does not lose its power during a run: without syncs a spec file starts in half the time.
  const server = await PostgresServer.start(programs, undefined, { fsync: 'off', full_page_writes: 'off' });
  onTeardown(() => server.stop());
  const role = 'service';
  const client = new pg.Client(server.url());
  await client.connect();
  await client.query(`CREATE ROLE ${role} LOGIN`);
  await client.end();
  process.env.ATTESTRY_SERVICES_POSTGRES = JSON.stringify({ admin: server.url(), service: server.url(role), role });
}
