import { findPostgres, PostgresServer, skipSuite } from '@attestry/testing';
import { describeMovedKeys } from './moved-keys.contract.js';
import { migratePostgresKeys } from '../postgres/load-postgres.js';

const programs = findPostgres();
let postgres: PostgresServer;
let serial = 0;

beforeAll(async () => {
  if (programs) postgres = await PostgresServer.start(programs);
}, 60_000);
afterAll(() => postgres?.stop());

if (!programs) skipSuite('moved keys: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
else
  describeMovedKeys([
    'PostgreSQL',
    async () => {
      const place = { url: postgres.url(), schema: `keys${++serial}` };
      await migratePostgresKeys(place);
      return place;
    },
  ]);
