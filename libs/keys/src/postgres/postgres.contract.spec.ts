import { randomUUID } from 'node:crypto';
import { findPostgres, PostgresServer, skipSuite, waitUntil } from '@attestry/testing';
import { describeKeyVault } from '../vault/keys.contract.js';
import { KeyNotFound, KeyVaultUnavailable, MasterKeyMismatch, type KeyVault } from '../vault/key-vault.js';
import { ERASED } from '../vault/sealing.js';
import { describeTenantPurge } from '../vault/tenant-purge.contract.js';
import { migratePostgresKeys, openPostgresKeyVault } from './load-postgres.js';

const programs = findPostgres();

if (programs === undefined) {
  skipSuite('KeyVault: PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
  // Jest wants a test in each file.
  it.skip('KeyVault: PostgreSQL', () => undefined);
} else {
  const current = { version: 1, key: new Uint8Array(32).fill(7) };
  let server: PostgresServer;
  let tests = 0;
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
  }, 60_000);
  afterAll(() => server.stop());

  const migrated = async () => {
    const options = { url: server.url(), schema: `test${++tests}` };
    await migratePostgresKeys(options);
    return { ...options, onFailure: () => undefined };
  };

  describeKeyVault('PostgreSQL', async () => {
    const options = await migrated();
    return {
      open: () => openPostgresKeyVault({ ...options, masterKeys: { current } }),
      remove: async () => undefined,
    };
  });

  describeTenantPurge('PostgreSQL', async () => {
    const { url, schema } = await migrated();
    return { url, schema };
  });

  describe('KeyVault: PostgreSQL', () => {
    const tenant = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const opened: KeyVault[] = [];
    const open = async (options: Parameters<typeof openPostgresKeyVault>[0]) => {
      const vault = await openPostgresKeyVault(options);
      opened.push(vault);
      return vault;
    };
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((vault) => vault.close()));
    });

    it('is refused before it is migrated, and migrated by several processes at once', async () => {
      const options = { url: server.url(), schema: `test${++tests}` };
      const opening = { ...options, masterKeys: { current }, onFailure: () => undefined };
      await expect(open(opening)).rejects.toThrow(/keys has schema version 0, this release needs 100/);
      await Promise.all([1, 2, 3].map(() => migratePostgresKeys(options)));
      await migratePostgresKeys(options);
      await open(opening);
    });

    it('has one pepper, one tenant key and one newest key for processes that start concurrently', async () => {
      const options = { ...(await migrated()), masterKeys: { current } };
      const vaults = await Promise.all([1, 2, 3, 4].map(() => open(options)));
      const mac = vaults[0]!.macs.mac('secret', 'here');
      expect(vaults.map((vault) => vault.macs.verifyMac('secret', mac, 'here'))).toEqual([true, true, true, true]);
      const ensured = await Promise.all(
        vaults.map((vault) => vault.signingKeys.ensureSigningKey(tenant, 'token', 'P-256')),
      );
      expect(new Set(ensured.map(({ keyId }) => keyId)).size).toBe(1);
      const ids = vaults.map(() => randomUUID());
      const sealed = await Promise.all(
        vaults.map(async (vault, at) => {
          await vault.sealing.createDataKey(tenant, 'user', ids[at]!);
          return vault.sealing.sealText(tenant, 'user', ids[at]!, `text ${at}`);
        }),
      );
      const read = await Promise.all(
        sealed.map((text, at) => vaults[(at + 1) % 4]!.sealing.openSealed(tenant, 'user', text)),
      );
      expect(read).toEqual(['text 0', 'text 1', 'text 2', 'text 3']);
    });

    it('keeps no key that is destroyed while it is created', async () => {
      const options = { ...(await migrated()), masterKeys: { current } };
      const [maker, destroyer] = [await open(options), await open(options)];
      await maker.sealing.createDataKey(tenant, 'session', 'warm');
      for (let round = 0; round < 30; round++) {
        const id = `s${round}`;
        const { sealed, newKey } = maker.sealing.sealWithNewKey(tenant, 'session', id, 'text');
        const made = newKey.store().then(
          () => 'made',
          (error: unknown) => error,
        );
        await destroyer.sealing.destroyDataKeys(tenant, [id]);
        const outcome = await made;
        if (outcome !== 'made') expect(outcome).toBeInstanceOf(KeyNotFound);
        const third = await openPostgresKeyVault(options);
        expect(await third.sealing.openSealed(tenant, 'session', sealed)).toBe(ERASED);
        await third.close();
      }
    });

    it('uses a cached key that another process destroyed only for a limited time', async () => {
      const options = { ...(await migrated()), masterKeys: { current } };
      const [forgetful, destroyer] = [await open({ ...options, believeMs: 200 }), await open(options)];
      await forgetful.sealing.createDataKey(tenant, 'user', 'u1');
      const sealed = await forgetful.sealing.sealText(tenant, 'user', 'u1', 'text');
      await destroyer.sealing.destroyDataKeys(tenant, ['u1']);
      await waitUntil(async () => (await forgetful.sealing.openSealed(tenant, 'user', sealed)) === ERASED, {
        timeoutMs: 5000,
      });
      await expect(forgetful.sealing.createDataKey(tenant, 'user', 'u1')).rejects.toThrow(KeyNotFound);
    });

    it('is rewrapped once by processes that start concurrently with a new master key', async () => {
      const options = await migrated();
      const before = await open({ ...options, masterKeys: { current } });
      await before.sealing.createDataKey(tenant, 'user', 'u1');
      const sealed = await before.sealing.sealText(tenant, 'user', 'u1', 'text');
      const mac = before.macs.mac('secret');
      const next = { version: 2, key: new Uint8Array(32).fill(9) };
      const after = await Promise.all(
        [1, 2, 3].map(() => open({ ...options, masterKeys: { current: next, previous: [current] } })),
      );
      for (const vault of after) {
        expect(await vault.sealing.openSealed(tenant, 'user', sealed)).toBe('text');
        expect(vault.macs.verifyMac('secret', mac)).toBe(true);
      }
      await open({ ...options, masterKeys: { current: next } });
      await expect(open({ ...options, masterKeys: { current } })).rejects.toThrow(MasterKeyMismatch);
    });

    it('reports with its own error that the server is unreachable, and continues when it is back', async () => {
      const options = { ...(await migrated()), masterKeys: { current }, timeoutMs: 1000 };
      const vault = await open(options);
      await vault.sealing.createDataKey(tenant, 'user', 'u1');
      await server.kill();
      await expect(vault.sealing.createDataKey(tenant, 'user', 'u2')).rejects.toThrow(KeyVaultUnavailable);
      await expect(vault.signingKeys.listSigningKeys(tenant, 'did')).rejects.toThrow(KeyVaultUnavailable);
      await server.restart();
      await waitUntil(() => vault.sealing.createDataKey(tenant, 'user', 'u2').then(() => true));
      expect(await vault.sealing.sealText(tenant, 'user', 'u2', 'text')).toMatch(/^v1\.u2\./);
    }, 60_000);

    it('needs only the rights to insert and update', async () => {
      const role = `keys_service_${++tests}`;
      const options = { url: server.url(), schema: `test${++tests}` };
      const { default: pg } = await import('pg');
      const owner = new pg.Client(options.url);
      await owner.connect();
      await owner.query(`CREATE ROLE ${role} LOGIN`);
      await migratePostgresKeys({ ...options, serviceRole: role });
      const vault = await open({
        url: server.url(role),
        schema: options.schema,
        masterKeys: { current },
        onFailure: () => undefined,
      });
      const [key] = await vault.signingKeys.createSigningKeys(tenant, 'did', ['P-256']);
      await vault.sealing.createDataKey(tenant, 'user', 'u1');
      await vault.signingKeys.destroySigningKeys(tenant, [key!.keyId]);
      await vault.sealing.destroyDataKeys(tenant, ['u1']);
      await vault.destroyTenant(tenant);
      const service = new pg.Client(server.url(role));
      await service.connect();
      for (const statement of ['DELETE FROM', 'TRUNCATE', 'DROP TABLE'])
        await expect(service.query(`${statement} ${options.schema}.data_keys`)).rejects.toThrow(
          /permission denied|must be owner/,
        );
      await Promise.all([owner.end(), service.end()]);
    });
  });
}
