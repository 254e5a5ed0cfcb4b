import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  findNatsServer,
  findPostgres,
  findRedisServer,
  NatsServer,
  PostgresServer,
  RedisServer,
  skipSuite,
  waitUntil,
} from '@attestry/testing';
import { parseConfig } from '../config/config.js';
import type { EngineNeed, ProcessEngines } from './engines.js';
import { migrateEngines } from './migrate-engines.js';
import { openEngines, openProcessEngines } from './open-engines.js';

const programs = [findNatsServer(), findPostgres(), findRedisServer()] as const;
const [nats, postgres, redis] = programs;

if (!nats || !postgres || !redis) {
  skipSuite('engines by configuration', 'needs nats-server, PostgreSQL and Redis (Debian: apt install them)');
  // Jest wants a test in each file.
  it.skip('engines by configuration', () => undefined);
} else {
  describe('engines by configuration', () => {
    let servers: [NatsServer, PostgresServer, RedisServer];
    let folder: string;
    let tests = 0;
    let env: Record<string, string>;
    const opened: { close(): Promise<void> }[] = [];
    const KEY = Buffer.alloc(32, 7).toString('base64url');

    beforeAll(async () => {
      servers = await Promise.all([NatsServer.start(nats), PostgresServer.start(postgres), RedisServer.start(redis)]);
    }, 60_000);
    afterAll(() => Promise.all(servers.map((server) => server.stop())));
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'attestry-engines-'));
      const [bus, database, cache] = servers;
      env = {
        LOG_LEVEL: 'silent',
        DATA_DIR: join(folder, 'data'),
        NATS_URL: bus.url,
        NATS_NAMESPACE: `t${++tests}`,
        DATABASE_URL: database.url(),
        DATABASE_SCHEMA: `t${tests}`,
        REDIS_URL: cache.url,
        MASTER_KEY: KEY,
        MANAGEMENT_CLIENT_ID: 'ops',
        MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
        BASE_DOMAIN: 'localhost:1',
      };
    });
    afterEach(async () => {
      for (const one of opened.splice(0).reverse()) await one.close();
      await rm(folder, { recursive: true, force: true });
    });

    const keep = async <T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T> => {
      const engines = await opening;
      opened.push(engines);
      return engines;
    };
    const open = (needs: EngineNeed[], change: Record<string, string> = {}): Promise<ProcessEngines> =>
      keep(openProcessEngines(parseConfig({ ...env, ...change }), new Set(needs)));
    const ALL: EngineNeed[] = ['domain', 'operations', 'keys', 'replay-guard', 'rates'];

    it('refuses engines that were not migrated, and names the remedy', async () => {
      await expect(open(ALL)).rejects.toThrow(/has schema version 0, this release needs \d+: run "npm run migrate"/);
    });

    it('migrates repeatedly and concurrently, and shares everything between processes', async () => {
      const config = parseConfig(env, undefined, 'migrate');
      await Promise.all([migrateEngines(config), migrateEngines(config), migrateEngines(config)]);
      await migrateEngines(config);
      const [one, other] = [await open(ALL), await open(ALL)];

      await one.vault!.sealing.createDataKey('t1', 'user', 'u1');
      const sealed = await one.vault!.sealing.sealText('t1', 'user', 'u1', 'text');
      expect(await other.vault!.sealing.openSealed('t1', 'user', sealed)).toBe('text');
      // Published on the bus, long before a cached key expires.
      await one.vault!.sealing.destroyDataKeys('t1', ['u1']);
      await waitUntil(async () => typeof (await other.vault!.sealing.openSealed('t1', 'user', sealed)) !== 'string', {
        timeoutMs: 5000,
      });

      other.bus.serve('op.test.echo', async (data) => ({ ok: true, data }));
      await waitUntil(async () => (await one.bus.request('op.test.echo', 1, { timeoutMs: 1000 })).ok);
      const nonces = [{ scope: 'nonce', value: 'n', expiresAt: new Date(Date.now() + 60_000) }];
      expect(await one.replayGuard!.spendAll('t1', nonces)).toBe(true);
      expect(await other.replayGuard!.spendAll('t1', nonces)).toBe(false);
      await one.rates!.count('caller');
      expect((await other.rates!.count('caller')).used).toBe(2);
      expect(await one.leases!.acquire('work', 'one', 60_000)).toBeDefined();
      expect(await other.leases!.acquire('work', 'other', 60_000)).toBeUndefined();
      // Nothing is kept in a folder.
      await expect(readdir(env['DATA_DIR']!)).rejects.toThrow('ENOENT');
    });

    it('opens only the engines that the services of a process need', async () => {
      await migrateEngines(parseConfig(env, undefined, 'migrate'));
      const gateway = await open(['rates'], { SERVICE: 'gateway', DATABASE_URL: '', MASTER_KEY: '' });
      expect(Object.keys(gateway)).not.toEqual(expect.arrayContaining(['events']));
      expect([gateway.events, gateway.vault, gateway.readModels, gateway.replayGuard]).toEqual(
        Array(4).fill(undefined),
      );
    });

    it('combines an embedded bus with PostgreSQL, for one process and no second', async () => {
      const single = { ...env, NATS_URL: '', REDIS_URL: '' };
      await migrateEngines(parseConfig(single, undefined, 'migrate'));
      const config = (name: string) => parseConfig({ ...single, DATA_DIR: join(folder, name) });
      const first = await openEngines(config('one'));
      await expect(openEngines(config('two'))).rejects.toThrow(/another process uses this database; set NATS_URL/);
      await first.close();
      await keep(openEngines(config('two')));
    }, 60_000);

    it('ends a process whose database was taken over while it was paused', async () => {
      const single = { ...env, NATS_URL: '', REDIS_URL: '' };
      await migrateEngines(parseConfig(single, undefined, 'migrate'));
      const ends: string[] = [];
      const engines = await keep(
        openEngines(parseConfig(single), { onFatal: (error) => void ends.push(error.message) }),
      );
      // The lease has expired, and another process holds it.
      const lease = await engines.leases.acquire('platform.sole-process', 'nobody', 1);
      expect(lease).toBeUndefined();
      const { default: pg } = await import('pg');
      const client = new pg.Client(env['DATABASE_URL']);
      await client.connect();
      await client.query(
        `UPDATE ${env['DATABASE_SCHEMA']}.leases SET holder = 'another', epoch = epoch + 1, expires_at = expires_at + 60000
         WHERE name = 'platform.sole-process'`,
      );
      await client.end();
      await waitUntil(() => ends.length > 0);
      expect(ends[0]).toMatch(/took over/);
    });
  });
}
