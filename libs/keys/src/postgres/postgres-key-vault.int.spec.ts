import { findPostgres, PostgresServer, SilentProxy, skipSuite, waitUntil } from '@attestry/testing';
import pg from 'pg';
import { ERASED, KeyAlreadyExists, KeyNotFound, KeyVaultUnavailable, MasterKeyMismatch } from '../key-vault.js';
import type { MasterKey } from '../master-keys.js';
import { migratePostgresKeys } from './load-postgres.js';
import { PostgresKeyVault, type PostgresKeyVaultOptions } from './postgres-key-vault.js';

const programs = findPostgres();
const T = '0f8fad5b-d9cb-469f-a165-70867728950e';
const master = (version: number, fill = version): MasterKey => ({ version, key: new Uint8Array(32).fill(fill) });

if (programs === undefined) {
  skipSuite('PostgresKeyVault', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('PostgresKeyVault', () => undefined);
} else {
  describe('PostgresKeyVault', () => {
    let server: PostgresServer;
    let admin: pg.Client;
    let schema: string;
    let tests = 0;
    const opened: PostgresKeyVault[] = [];

    const open = async (
      current = master(1),
      previous: MasterKey[] = [],
      more: Partial<PostgresKeyVaultOptions> = {},
    ) => {
      const vault = await PostgresKeyVault.open({
        url: server.url('service'),
        schema,
        masterKeys: { current, previous },
        onFailure: () => undefined,
        ...more,
      });
      opened.push(vault);
      return vault;
    };
    const closeAll = () => Promise.all(opened.splice(0).map((vault) => vault.close()));
    const count = async (query: string): Promise<number> => {
      const { rows } = await admin.query<{ n: string }>(`SELECT count(*) AS n FROM ${schema}.${query}`);
      return Number(rows[0]!.n);
    };

    beforeAll(async () => {
      server = await PostgresServer.start(programs);
      const client = new pg.Client(server.url());
      await client.connect();
      await client.query('CREATE ROLE service LOGIN');
      await client.end();
    }, 60_000);
    afterAll(() => server.stop());
    beforeEach(async () => {
      schema = `spec${++tests}`;
      await migratePostgresKeys({ url: server.url(), schema, serviceRole: 'service' });
      admin = new pg.Client(server.url());
      // A test restarts the server.
      admin.on('error', () => undefined);
      await admin.connect();
    });
    afterEach(async () => {
      await closeAll();
      await admin.end();
    });

    it('refuses to open what was not migrated, and says what to do', async () => {
      await expect(open(master(1), [], { schema: 'elsewhere' })).rejects.toThrow(/run "npm run migrate"/);
    });

    it('is migrated by several processes at once, and again', async () => {
      const options = { url: server.url(), schema: `${schema}_new`, serviceRole: 'service' };
      await Promise.all(Array.from({ length: 4 }, () => migratePostgresKeys(options)));
      await migratePostgresKeys(options);
      await open(master(1), [], { schema: `${schema}_new` });
    });

    it('gives services no way to take a key or its tombstone away', async () => {
      const client = new pg.Client(server.url('service'));
      await client.connect();
      try {
        for (const table of ['tenant_keys', 'signing_keys', 'data_keys', 'peppers'])
          for (const statement of [`DELETE FROM ${schema}.${table}`, `TRUNCATE ${schema}.${table}`])
            await expect(client.query(statement)).rejects.toThrow('permission denied');
      } finally {
        await client.end();
      }
    });

    describe('several processes', () => {
      it('start together on an empty store with one pepper', async () => {
        const vaults = await Promise.all(Array.from({ length: 5 }, () => open()));
        expect(await count('peppers')).toBe(1);
        const mac = vaults[0]!.mac('secret');
        expect(vaults.map((vault) => vault.verifyMac('secret', mac))).not.toContain(false);
      });

      it('make one tenant key, and one of a data key and of an ensured signing key', async () => {
        const vaults = await Promise.all(Array.from({ length: 4 }, () => open()));
        const ensured = await Promise.all(vaults.map((vault) => vault.ensureSigningKey(T, 'token', 'Ed25519')));
        expect(new Set(ensured.map(({ keyId }) => keyId)).size).toBe(1);
        const made = vaults.map((vault, n) => vault.sealWithNewKey(T, 'session', 's1', `text ${n}`));
        const outcomes = await Promise.allSettled(made.map(({ durable }) => durable));
        const won = outcomes.findIndex(({ status }) => status === 'fulfilled');
        const lost = outcomes.filter((outcome) => outcome.status === 'rejected');
        expect(lost.map(({ reason }) => (reason as Error).name)).toEqual(Array(3).fill(KeyAlreadyExists.name));
        for (const vault of vaults) expect(await vault.open(T, 'session', made[won]!.sealed)).toBe(`text ${won}`);
        expect([await count('tenant_keys'), await count('data_keys')]).toEqual([1, 1]);
      });

      it('hear of each other’s destructions, keys and tenants, without being told otherwise', async () => {
        const [one, other] = [await open(), await open()];
        const key = await one.createSigningKey(T, 'did', 'P-256');
        await one.createDataKey(T, 'user', 'u1');
        await one.createDataKey(T, 'user', 'u2');
        const [first, second] = await Promise.all(['u1', 'u2'].map((id) => one.seal(T, 'user', id, 'text')));
        expect(await other.open(T, 'user', first!)).toBe('text');
        expect(await other.open(T, 'user', second!)).toBe('text');
        await other.signer(T, key.keyId);
        await one.destroy(T, [
          'u1',
          key.keyId,
          ...Array.from({ length: 400 }, (_, n) => `session-${n}-${'x'.repeat(20)}`),
        ]);
        await waitUntil(async () => (await other.open(T, 'user', first!)) === ERASED, { what: 'the key to be gone' });
        await expect(other.signer(T, key.keyId)).rejects.toThrow(KeyNotFound);
        await expect(other.createDataKey(T, 'user', 'u1')).rejects.toThrow(KeyNotFound);
        expect(await other.open(T, 'user', second!)).toBe('text');
        await one.destroyTenant(T);
        await waitUntil(async () => (await other.open(T, 'user', second!)) === ERASED, {
          what: 'the tenant to be gone',
        });
      });

      it('hear of new signing keys and peppers', async () => {
        const [one, other] = [await open(), await open()];
        const old = await other.ensureSigningKey(T, 'token', 'Ed25519');
        const newer = await one.createSigningKey(T, 'token', 'Ed25519');
        expect(newer.keyId).not.toBe(old.keyId);
        const newest = () => other.ensureSigningKey(T, 'token', 'Ed25519');
        await waitUntil(async () => (await newest()).keyId === newer.keyId, { what: 'the newer key' });
        await one.rotatePepper();
        const mac = one.mac('secret');
        await waitUntil(() => other.verifyMac('secret', mac), { what: 'the pepper' });
      });

      it('leave no living key where one destroys a tenant, or an id, while others make keys', async () => {
        const [one, other] = [await open(), await open()];
        for (let round = 0; round < 10; round++) {
          const tenant = `tenant-${round}`;
          const ids = Array.from({ length: 30 }, (_, n) => `k${n}`);
          const made = ids.map((id) => other.sealWithNewKey(tenant, 'session', id, 'text'));
          const durable = Promise.allSettled(made.map((key) => key.durable));
          await (round % 2 ? one.destroyTenant(tenant) : one.destroy(tenant, ids));
          await durable;
          expect(await count(`data_keys WHERE tenant = '${tenant}' AND live`)).toBe(0);
          const zero = `get_byte(sealed, 0) = 0 AND sealed = decode(repeat('00', 60), 'hex')`;
          expect(await count(`data_keys WHERE tenant = '${tenant}' AND NOT (${zero})`)).toBe(0);
          const seen = async () => Promise.all(made.map(({ sealed }) => other.open(tenant, 'session', sealed)));
          await waitUntil(async () => (await seen()).every((text) => text === ERASED), { what: 'all to be erased' });
        }
      });

      it('keep no key in memory when they hear nothing: a destruction cannot be missed', async () => {
        const proxy = await SilentProxy.to(server.port);
        try {
          const one = await open();
          const url = server.url('service').replace(`:${server.port}`, `:${proxy.port}`);
          const cut = await open(master(1), [], { url, timeoutMs: 300 });
          await one.createDataKey(T, 'user', 'u1');
          const sealed = await one.seal(T, 'user', 'u1', 'text');
          expect(await cut.open(T, 'user', sealed)).toBe('text');
          proxy.silence();
          await one.destroy(T, ['u1']);
          const refused = () =>
            cut.open(T, 'user', sealed).then(
              () => undefined,
              (error: Error) => error,
            );
          const error = await waitUntil(refused, { timeoutMs: 20_000, what: 'the memory to be dropped' });
          expect(error).toBeInstanceOf(KeyVaultUnavailable);
          proxy.speak();
          await waitUntil(async () => (await cut.open(T, 'user', sealed)) === ERASED, { timeoutMs: 20_000 });
        } finally {
          await proxy.close();
        }
      }, 60_000);
    });

    it('rejects while the server is away, by a name of its own, and goes on by itself', async () => {
      const vault = await open();
      await vault.createDataKey(T, 'user', 'u1');
      const key = await vault.createSigningKey(T, 'did', 'P-256');
      const sealed = await vault.seal(T, 'user', 'u1', 'text');
      await server.kill();
      const uses = () => [
        vault.createDataKey(T, 'user', 'u2'),
        vault.createSigningKey(T, 'did', 'P-256'),
        vault.ensureSigningKey(T, 'webhook', 'Ed25519'),
        vault.listSigningKeys(T, 'did'),
        vault.sealWithNewKey(T, 'session', 's1', 'text').durable,
        vault.destroy(T, ['u3']),
        vault.destroyTenant('other'),
        vault.checkpoint('erasures'),
        vault.setCheckpoint('erasures', '1'),
      ];
      for (const outcome of await Promise.allSettled(uses()))
        expect(outcome.status === 'rejected' && outcome.reason).toBeInstanceOf(KeyVaultUnavailable);
      await server.restart();
      await waitUntil(async () => (await vault.open(T, 'user', sealed)) === 'text', { timeoutMs: 15_000 });
      expect((await vault.signer(T, key.keyId)).publicJwk).toEqual(key.publicJwk);
      await Promise.all(uses());
      // What was lost with the server's connection is heard again.
      const other = await open();
      await waitUntil(
        async () => {
          await vault.open(T, 'user', sealed);
          await other.destroy(T, ['u1']);
          return (await vault.open(T, 'user', sealed)) === ERASED;
        },
        { timeoutMs: 15_000 },
      );
    }, 60_000);

    describe('MASTER_KEY', () => {
      const fill = async () => {
        const vault = await open();
        const tenants = Array.from({ length: 20 }, (_, n) => `tenant-${n}`);
        const sealed = await Promise.all(
          tenants.map(async (tenant) => {
            const made = vault.sealWithNewKey(tenant, 'user', 'u1', tenant);
            await made.durable;
            return made.sealed;
          }),
        );
        const mac = vault.mac('secret');
        await closeAll();
        return async (again: PostgresKeyVault) => {
          for (const [at, tenant] of tenants.entries())
            expect(await again.open(tenant, 'user', sealed[at]!)).toBe(tenant);
          expect(again.verifyMac('secret', mac)).toBe(true);
        };
      };
      const ofVersion = async (version: number) =>
        (await count(`tenant_keys WHERE get_byte(wrapped, 3) = ${version}`)) +
        (await count(`peppers WHERE get_byte(wrapped, 3) = ${version}`));

      it('is taken over by several processes that start together; the old one is then not needed', async () => {
        const check = await fill();
        expect(await ofVersion(1)).toBe(21);
        const vaults = await Promise.all(Array.from({ length: 4 }, () => open(master(2), [master(1)])));
        for (const vault of vaults) await check(vault);
        expect([await ofVersion(1), await ofVersion(2)]).toEqual([0, 21]);
        await check(await open(master(2)));
        await expect(open(master(1))).rejects.toThrow(/needs MASTER_KEY version 2/);
      });

      it('does not go back when a process starts that still writes with the older one', async () => {
        const check = await fill();
        await check(await open(master(2), [master(1)]));
        const older = await open(master(1), [master(2)]);
        await check(older);
        expect([await ofVersion(1), await ofVersion(2)]).toEqual([0, 21]);
      });

      it.each([
        ['another key of the same version', master(1, 9), []],
        ['a new version without the old', master(2), []],
        ['a new version with a wrong old one', master(2), [master(1, 9)]],
      ])('fails at open for %s, and changes nothing', async (_, current, previous) => {
        const check = await fill();
        await expect(open(current, previous)).rejects.toThrow(MasterKeyMismatch);
        expect(await ofVersion(1)).toBe(21);
        await check(await open());
      });
    });

    it('holds no private key, data key, plain text or master key in clear', async () => {
      const vault = await open();
      await vault.createSigningKeys(T, 'did', ['P-256', 'Ed25519']);
      const { durable } = vault.sealWithNewKey(T, 'user', 'u1', 'the plain text');
      await durable;
      const tables = ['tenant_keys', 'signing_keys', 'data_keys', 'peppers'];
      const dump = await Promise.all(
        tables.map(async (table) => JSON.stringify((await admin.query(`SELECT * FROM ${schema}.${table}`)).rows)),
      );
      const text = dump.join('');
      expect(text).toContain('u1');
      expect(text).not.toContain('the plain text');
      expect(text).not.toContain('\\"d\\"');
      expect(text).not.toContain(JSON.stringify([...master(1).key]).slice(1, -1));
    });
  });
}
