import {
  findNatsServer,
  findPostgres,
  findRedisServer,
  freePort,
  NatsServer,
  PostgresServer,
  RedisServer,
  skipSuite,
} from '@attestry/testing';
import { createClient } from '@redis/client';
import pg from 'pg';
import { parseConfig } from '../config/config.js';
import { migrateEngines } from './migrate-engines.js';
import { reachEngines } from './reach-engines.js';

const [nats, postgres, redis] = [findNatsServer(), findPostgres(), findRedisServer()];

if (!nats || !postgres || !redis) {
  skipSuite('connections to the engines', 'needs nats-server, PostgreSQL and Redis (Debian: apt install them)');
  // Jest wants a test in each file.
  it.skip('connections to the engines', () => undefined);
} else
  describe('connections to the engines', () => {
    let servers: [NatsServer, PostgresServer, RedisServer];
    let owner: pg.Client;
    let env: Record<string, string>;
    const SECRET = 'hidden-word';
    const user = (name: string, permissions = '') =>
      `{ user: ${name}, password: ${SECRET}${permissions && `, permissions: ${permissions}`} }`;

    beforeAll(async () => {
      const denied = '{ publish: { deny: "$JS.API.>" } }';
      const lines = [`authorization { users: [${user('dids')}, ${user('issuance', denied)}] }`];
      servers = await Promise.all([
        NatsServer.start(nats, undefined, { lines }),
        PostgresServer.start(postgres),
        RedisServer.start(redis),
      ]);
      const [bus, database, cache] = servers;
      owner = new pg.Client(database.url());
      await owner.connect();
      await owner.query('CREATE ROLE service LOGIN');
      await owner.query('CREATE ROLE stranger LOGIN');
      const client = await createClient({ url: cache.url }).connect();
      await client.sendCommand(['ACL', 'SETUSER', 'reader', 'on', `>${SECRET}`, '~*', '+info', '+hello', '+auth']);
      client.destroy();
      env = {
        SERVICE: 'issuance',
        NATS_URL: bus.url,
        NATS_USER: 'dids',
        NATS_PASSWORD: SECRET,
        DATABASE_URL: database.url('service'),
        REDIS_URL: cache.url,
        MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
        BASE_DOMAIN: 'localhost:1',
      };
      await migrateEngines(
        parseConfig({ ...env, MIGRATION_DATABASE_URL: database.url(), SERVICE: '' }, undefined, 'migrate'),
      );
    }, 60_000);
    afterAll(async () => {
      await owner.end();
      await Promise.all(servers.map((server) => server.stop()));
    });
    const reach = async (more: Record<string, string> = {}) => {
      const found = await reachEngines(parseConfig({ ...env, ...more }), 'run');
      expect(JSON.stringify(found)).not.toContain(SECRET);
      return found;
    };

    it('find nothing where every engine answers, with the rights and the schema of this release', async () => {
      expect(await reach()).toEqual({
        faults: [],
        passed: expect.arrayContaining([
          'DATABASE_URL: connected, with the rights and the schema of this release',
          'REDIS_URL: connected, maxmemory-policy is noeviction',
          'NATS_URL: connected, with the rights and the schema of this release',
        ]),
      });
      expect((await reach({ SERVICE: 'dids', REDIS_URL: '' })).faults).toEqual([]);
    });

    it.each<[string, (port: number) => Record<string, string>, RegExp]>([
      [
        'PostgreSQL',
        (port) => ({ DATABASE_URL: `postgres://service:${SECRET}@127.0.0.1:${port}/postgres` }),
        /^DATABASE_URL names a server that cannot be used \(ECONNREFUSED\): start the server/,
      ],
      [
        'Redis',
        (port) => ({ REDIS_URL: `redis://:${SECRET}@127.0.0.1:${port}` }),
        /^REDIS_URL names a server that cannot be used \(ECONNREFUSED\): start the server/,
      ],
      [
        'NATS',
        (port) => ({ NATS_URL: `nats://127.0.0.1:${port}` }),
        /^NATS_URL names servers of which none answers .*: start a server/,
      ],
      [
        'EventStoreDB',
        (port) => ({ EVENTSTORE_URL: `esdb://admin:${SECRET}@127.0.0.1:${port}?tls=false` }),
        /^EVENTSTORE_URL names a server that cannot be read .*: start the server/,
      ],
    ])(
      'find a dead engine: %s',
      async (_, change, fault) => {
        expect((await reach(change(await freePort()))).faults).toEqual([expect.stringMatching(fault)]);
      },
      30_000,
    );

    it('find a wrong password or user', async () => {
      const [bus, database, cache] = servers;
      expect((await reach({ NATS_PASSWORD: 'other' })).faults).toEqual([
        expect.stringMatching(/^NATS_URL cannot be used: .*credentials refused.*: set NATS_USER and NATS_PASSWORD/),
      ]);
      expect((await reach({ DATABASE_URL: database.url('nobody_here') })).faults).toEqual([
        expect.stringMatching(/^DATABASE_URL names a server that refuses the user or its password \(28000\): correct/),
      ]);
      expect((await reach({ REDIS_URL: cache.url.replace('//', `//reader:wrong@`) })).faults).toEqual([
        expect.stringMatching(/^REDIS_URL names a server that refuses the user or its password \(WRONGPASS\): correct/),
      ]);
      expect(bus.url).toMatch(/^nats:/);
    });

    it('find a missing right', async () => {
      const [, database, cache] = servers;
      expect((await reach({ DATABASE_URL: database.url('stranger') })).faults).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^DATABASE_URL may not use the schema attestry \(42501\): run "npm run migrate" with/),
        ]),
      );
      await owner.query('REVOKE SELECT ON attestry.events FROM service');
      try {
        expect((await reach()).faults).toEqual([
          expect.stringMatching(/^DATABASE_URL lacks SELECT on attestry\.events: run "npm run migrate" with/),
        ]);
      } finally {
        await owner.query('GRANT SELECT ON attestry.events TO service');
      }
      expect((await reach({ NATS_USER: 'issuance' })).faults).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^NATS_URL gives a user that may not read the stream attestry_feed: install/),
        ]),
      );
      expect((await reach({ REDIS_URL: cache.url.replace('//', `//reader:${SECRET}@`) })).faults).toEqual([
        expect.stringMatching(
          /^REDIS_URL gives a user that may not run the commands of the platform \(NOPERM\): grant/,
        ),
      ]);
    });

    it('find a schema of before the first release, and a missing one', async () => {
      await owner.query(`UPDATE attestry_keys.schema_versions SET version = version - 100`);
      try {
        expect((await reach()).faults).toEqual([
          expect.stringMatching(
            /^DATABASE_URL cannot be used: the schema attestry_keys has data of version 0\.1\.0: export what you need/,
          ),
        ]);
      } finally {
        await owner.query(`UPDATE attestry_keys.schema_versions SET version = version + 100`);
      }
      expect((await reach({ DATABASE_SCHEMA: 'elsewhere' })).faults.length).toBeGreaterThan(4);
      expect((await reach({ NATS_NAMESPACE: 'elsewhere' })).faults).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^NATS_URL names servers without the stream elsewhere_feed: run "npm run migrate"/),
        ]),
      );
    });

    it('of the migration need an owner, and nothing that it creates', async () => {
      const [, database] = servers;
      const ofMigration = (more: Record<string, string>) =>
        reachEngines(parseConfig({ ...env, ...more }, undefined, 'migrate'), 'migrate');
      const wanted = { MIGRATION_DATABASE_URL: database.url() };
      expect((await ofMigration(wanted)).faults).toEqual([]);
      const elsewhere = { DATABASE_SCHEMA: 'elsewhere', NATS_NAMESPACE: 'elsewhere' };
      expect((await ofMigration({ ...wanted, ...elsewhere })).faults).toEqual([]);
      expect((await ofMigration({ MIGRATION_DATABASE_URL: database.url('stranger') })).faults).toEqual([
        expect.stringMatching(
          /^MIGRATION_DATABASE_URL does not own the schemas attestry, .*: set MIGRATION_DATABASE_URL/,
        ),
      ]);
      expect((await ofMigration(elsewhere)).faults).toEqual([
        expect.stringMatching(/^DATABASE_URL may not create schemas in this database: set MIGRATION_DATABASE_URL/),
      ]);
    });
  });
