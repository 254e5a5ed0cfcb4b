import { findNatsServer, findPostgres, NatsServer, PostgresServer, skipSuite } from '@attestry/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import pg from 'pg';
import { MIGRATION_SETTINGS, parseConfig, type PlatformConfig } from '../config/config.js';
import { EngineInspector } from './inspect-engines.js';
import { migrateEngines } from './migrate-engines.js';
import { natsOptions } from './nats-options.js';

const [nats, postgres] = [findNatsServer(), findPostgres()];

if (!nats || !postgres) {
  skipSuite('migration of the engines', 'needs nats-server and PostgreSQL (Debian: apt install them)');
  // Jest wants a test in each file.
  it.skip('migration of the engines', () => undefined);
} else
  describe('migration of the engines', () => {
    let servers: [NatsServer, PostgresServer];
    let tests = 0;
    let env: Record<string, string>;
    beforeAll(async () => {
      servers = await Promise.all([NatsServer.start(nats), PostgresServer.start(postgres)]);
    }, 60_000);
    afterAll(() => Promise.all(servers.map((server) => server.stop())));
    beforeEach(() => {
      const [bus, database] = servers;
      env = {
        NATS_URL: bus.url,
        NATS_NAMESPACE: `m${++tests}`,
        DATABASE_URL: database.url(),
        DATABASE_SCHEMA: `m${tests}`,
      };
    });
    const migrate = (more: Record<string, string> = {}) =>
      migrateEngines(parseConfig({ ...env, ...more }, undefined, 'migrate'));
    const days = async () => {
      const client = new pg.Client(servers[1].url());
      await client.connect();
      try {
        const { rows } = await client.query<{ days: number }>(`SELECT days FROM m${tests}_operations.retention`);
        return rows[0]!.days;
      } finally {
        await client.end();
      }
    };

    it('never lengthens the retention of the audit trail without MIGRATION_ALLOWS, and says so', async () => {
      expect((await migrate({ OPERATION_EVENTS_DAYS: '90' })).left).toEqual([]);
      expect(await days()).toBe(90);

      const retention = `PostgreSQL: the retention of m${tests}_operations is 90 days`;
      expect((await migrate()).left).toEqual([`${retention}, OPERATION_EVENTS_DAYS is not set`]);
      const longer = { OPERATION_EVENTS_DAYS: '400' };
      for (const more of [longer, { ...longer, MIGRATION_ALLOWS: 'fewer-replicas' }])
        expect((await migrate(more)).left).toEqual([
          `${retention}, OPERATION_EVENTS_DAYS is 400: MIGRATION_ALLOWS=longer-retention lengthens it`,
        ]);
      expect(await days()).toBe(90);

      expect((await migrate({ ...longer, MIGRATION_ALLOWS: 'longer-retention' })).left).toEqual([]);
      expect(await days()).toBe(400);
      expect((await migrate({ OPERATION_EVENTS_DAYS: '30' })).left).toEqual([]);
      expect(await days()).toBe(30);
    });

    it('refuses a schema and a feed of before the first release, and changes nothing', async () => {
      const client = new pg.Client(env['DATABASE_URL']);
      await client.connect();
      const connection = await connect({ servers: servers[0].url });
      try {
        const schema = `m${tests}_keys`;
        await client.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.schema_versions (component text, version integer);
          INSERT INTO ${schema}.schema_versions VALUES ('keys', 5)`);
        await expect(migrate()).rejects.toThrow(`the schema ${schema} has data of version 0.1.0`);
        const tables = `SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE 'm${tests}%'`;
        expect((await client.query(tables)).rows).toEqual([{ table_schema: schema, table_name: 'schema_versions' }]);

        await client.query(`DROP SCHEMA ${schema} CASCADE`);
        const manager = await jetstreamManager(connection);
        const stream = `m${tests}_feed`;
        await manager.streams.add({ name: stream, subjects: [`m${tests}.feed.>`] });
        const before = (await manager.streams.info(stream)).config;
        await expect(migrate()).rejects.toThrow(`the stream ${stream} of NATS has data of version 0.1.0`);
        expect((await manager.streams.info(stream)).config).toEqual(before);
        expect((await client.query(tables)).rows).toEqual([]);
      } finally {
        await client.end();
        await connection.close();
      }
    });

    it('begins with one replica and 400 days where nothing is set', async () => {
      expect(await migrate()).toEqual({
        done: [expect.stringMatching(/^PostgreSQL: schemas /), expect.stringMatching(/^NATS: the stream and buckets /)],
        left: [],
      });
      expect(await days()).toBe(400);
    });

    it('needs no DATABASE_URL with MIGRATION_DATABASE_URL and DATABASE_SERVICE_ROLE, as the chart gives them', async () => {
      const { DATABASE_URL, ...others } = env;
      const client = new pg.Client(DATABASE_URL);
      await client.connect();
      try {
        const role = `r${tests}`;
        await client.query(`CREATE ROLE ${role} LOGIN`);
        const chart = { ...others, MIGRATION_DATABASE_URL: DATABASE_URL!, DATABASE_SERVICE_ROLE: role };
        const { done } = await migrateEngines(parseConfig(chart, undefined, 'migrate'));
        expect(done[0]).toMatch(/^PostgreSQL: schemas /);
        const { rows } = await client.query(`SELECT has_table_privilege($1, $2, 'SELECT') AS may`, [
          role,
          `m${tests}.events`,
        ]);
        expect(rows).toEqual([{ may: true }]);
      } finally {
        await client.end();
      }
    });

    it('reads the settings that the chart gives it, and no others', async () => {
      const read = new Set<string>();
      const recorded = (more: Record<string, string> = {}): PlatformConfig =>
        new Proxy(parseConfig({ ...env, ...more }, undefined, 'migrate'), {
          get(config, name: string) {
            // The value beside the default, of the same setting.
            read.add(name.replace(/Given$/, ''));
            return config[name as keyof PlatformConfig];
          },
        });
      await migrateEngines(recorded());
      natsOptions(recorded({ NATS_CA_FILE: 'ca', NATS_CERT_FILE: 'cert', NATS_KEY_FILE: 'key', NATS_USER: 'user' }));
      new EngineInspector(recorded(), 'migrate');
      expect([...read].sort()).toEqual([...MIGRATION_SETTINGS].sort());
    });
  });
