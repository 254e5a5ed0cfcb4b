import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUS_PARTICIPANTS } from '@attestry/contracts';
import { findNatsServer, NatsServer, skipSuite } from '@attestry/testing';
import { ConfigError, parseConfig } from '../config/config.js';
import { inspectConfig, loadConfig } from '../config/load-config.js';
import { migrateEngines } from './migrate-engines.js';
import { openProcessEngines } from './open-engines.js';

const program = findNatsServer();
const REPOSITORY = join(import.meta.dirname, '../../../..');
const REDIS_SKIPPED = 'REDIS_URL: the server did not respond to INFO; maxmemory-policy not tested';
const passwordOf = (user: string) => `${user}-secret`;

if (program === undefined) {
  skipSuite('production on a NATS server', 'nats-server is not installed (Debian: apt install nats-server)');
  it.skip('production on a NATS server', () => undefined);
} else
  describe('production on a NATS server', () => {
    const started: NatsServer[] = [];
    const start = async (
      ...args: Parameters<typeof NatsServer.start> extends [string, ...infer Rest] ? Rest : never
    ) => {
      const server = await NatsServer.start(program, ...args);
      started.push(server);
      return server;
    };
    afterEach(async () => {
      for (const server of started.splice(0)) await server.stop();
    });
    const startWithUsers = () =>
      start(undefined, {
        config: join(REPOSITORY, 'deploy/nats'),
        env: Object.fromEntries(
          [...BUS_PARTICIPANTS, 'migrate'].map((user) => [
            `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`,
            passwordOf(user),
          ]),
        ),
      });
    const environment = (server: NatsServer, user: string) => ({
      NODE_ENV: 'production',
      LOG_LEVEL: 'silent',
      SERVICE: user,
      NATS_URL: server.url,
      NATS_USER: user,
      NATS_PASSWORD: passwordOf(user),
      PLAINTEXT_ENGINES: '127.0.0.1',
      PUBLIC_SCHEME: 'https',
      BASE_DOMAIN: 'example.com',
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64url'),
      MANAGEMENT_CLIENT_ID: 'ops',
      MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
      DATABASE_URL: 'postgres://attestry:word@127.0.0.1/attestry',
      REDIS_URL: 'redis://:word@127.0.0.1',
    });
    const faultsOf = async (server: NatsServer, user: string) =>
      (await inspectConfig(environment(server, user))).faults;

    it('is accepted by every service when each has its user, and by the migration', async () => {
      const server = await startWithUsers();
      for (const participant of BUS_PARTICIPANTS) {
        const { faults, passed, skipped } = await inspectConfig(environment(server, participant));
        expect({ participant, faults, skipped }).toEqual({ participant, faults: [], skipped: [REDIS_SKIPPED] });
        expect(passed).toContain(`NATS_URL: the server denies ${participant} the subjects of other services`);
      }
      const { SERVICE: _, ...migrate } = environment(server, 'migrate');
      const inspected = await inspectConfig(migrate, { purpose: 'migrate', busUser: 'migrate' });
      expect(inspected).toMatchObject({ faults: [], skipped: [] });
    });

    it('is refused on a server without users, which accepts any name and password', async () => {
      const server = await start();
      for (const participant of BUS_PARTICIPANTS) {
        const faults = await faultsOf(server, participant);
        expect(faults).toEqual([
          expect.stringMatching(
            /^NATS_URL names servers that accept clients without credentials \(nats:.*\): configure the users/,
          ),
          expect.stringMatching(
            new RegExp(`^NATS_URL gives ${participant} a user that can also act as .*: configure the users`),
          ),
        ]);
      }
      await expect(loadConfig(environment(server, 'dids'))).rejects.toBeInstanceOf(ConfigError);
    });

    it('is refused with one user for all services', async () => {
      const users = BUS_PARTICIPANTS.map(
        (participant) => `{ user: ${participant}, password: ${passwordOf(participant)} }`,
      ).join(', ');
      const server = await start(undefined, { lines: [`authorization { users = [ ${users} ] }`] });
      expect(await faultsOf(server, 'dids')).toEqual([
        `NATS_URL gives dids a user that can also act as ${BUS_PARTICIPANTS.filter((it) => it !== 'dids').join(', ')}: ` +
          'configure the users of deploy/nats/users.conf on the server (docs/guides/nats.md)',
      ]);
    });

    it.each([
      ['publish: { allow: ["attestry.call.issuance.>"] }, subscribe: { allow: ["_INBOX_attestry_gateway.>"] }'],
      ['publish: { allow: ["attestry.call.gateway.>"] }, subscribe: { allow: ["_INBOX_attestry_issuance.>"] }'],
    ])('is refused with a user that has one right of the gateway: %s', async (permissions) => {
      const lines = [
        `authorization { users = [ { user: issuance, password: ${passwordOf('issuance')}, permissions: { ${permissions} } } ] }`,
      ];
      const server = await start(undefined, { lines });
      expect(await faultsOf(server, 'issuance')).toEqual([
        expect.stringMatching(/^NATS_URL gives issuance a user that can also act as gateway: /),
      ]);
    });

    it('is refused when the server has a user for clients without credentials', async () => {
      const own = 'publish: { allow: ["attestry.call.dids.>"] }, subscribe: { allow: ["_INBOX_attestry_dids.>"] }';
      const lines = [
        'no_auth_user: guest',
        `authorization { users = [ { user: dids, password: ${passwordOf('dids')}, permissions: { ${own} } }, { user: guest, password: guest-secret } ] }`,
      ];
      const server = await start(undefined, { lines });
      expect(await faultsOf(server, 'dids')).toEqual([
        expect.stringMatching(/^NATS_URL names servers that accept clients without credentials/),
      ]);
    });

    it('is refused with a wrong password, in the same message', async () => {
      const server = await startWithUsers();
      const { faults } = await inspectConfig({ ...environment(server, 'dids'), NATS_PASSWORD: 'wrong-word' });
      expect(faults).toEqual([
        expect.stringMatching(/^NATS_URL cannot be used: .*(credentials refused|authorization violation)/i),
      ]);
      expect(faults.join()).not.toContain('wrong-word');
    });

    it('creates no data folder when all engines of the process are servers, as for a gateway', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'attestry-gateway-'));
      try {
        const server = await start();
        const DATA_DIR = join(folder, 'data');
        const { DATABASE_URL: _, ...env } = { ...environment(server, 'gateway'), NODE_ENV: 'test', DATA_DIR };
        await migrateEngines(parseConfig(env, undefined, 'migrate'));
        const engines = await openProcessEngines(parseConfig(env), new Set());
        await engines.close();
        expect(existsSync(DATA_DIR)).toBe(false);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });

    it('is refused when the open server appears after the configuration was read', async () => {
      const server = await start();
      await server.kill();
      const env = environment(server, 'gateway');
      const { faults, skipped } = await inspectConfig(env);
      expect(faults).toEqual([]);
      expect(skipped).toEqual([
        expect.stringMatching(/^NATS_URL: nats:.* did not respond; users not tested$/),
        REDIS_SKIPPED,
      ]);
      const config = await loadConfig(env);
      await server.restart();
      const { DATABASE_URL: _, ...nothing } = env;
      await migrateEngines(parseConfig({ ...nothing, NODE_ENV: 'test' }, undefined, 'migrate'));
      await expect(openProcessEngines(config, new Set())).rejects.toThrow(
        /NATS_URL names servers that accept clients without credentials/,
      );
      // The server is usable: outside production the same start succeeds.
      const engines = await openProcessEngines(parseConfig({ ...env, NODE_ENV: 'test' }), new Set());
      await engines.close();
    });
  });
