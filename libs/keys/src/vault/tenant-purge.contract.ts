import { openKeyStore, type KeyLocation } from '../moving/key-location.js';
import { TENANT_A as A, TENANT_B as B } from './fresh-vault.contract.js';
import type { KeyStore, StoredKey } from '../stored/key-store.js';
import { KeyNotFound, type KeysDestroyed } from './key-vault.js';
import { ERASED } from './sealing.js';
import { StoredKeyVault } from '../stored/stored-key-vault.js';

const TABLES = ['tenant_keys', 'signing_keys', 'data_keys'] as const;

/** A purge of a tenant, in portions, over every store of keys. */
export const describeTenantPurge = (adapter: string, locate: () => Promise<KeyLocation>): void => {
  describe(`purge of a tenant: ${adapter}`, () => {
    let location: KeyLocation;
    const opened: { close(): Promise<void> }[] = [];
    beforeEach(async () => {
      location = await locate();
    });
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
    });

    const openStore = async (): Promise<KeyStore> => {
      const store = await openKeyStore(location);
      opened.push(store);
      return store;
    };
    /** @param portions after which the store fails, as in a crash */
    const openVault = async (portions = Infinity): Promise<StoredKeyVault> => {
      const store = await openKeyStore(location);
      let left = portions;
      const failing: KeyStore = {
        engine: store.engine,
        newKeyJob: store.newKeyJob,
        call: async (job, args) => {
          if (job === 'destroyRows' && left-- <= 0) throw new Error('interrupted');
          return store.call(job, args);
        },
        close: () => store.close(),
      };
      const masterKeys = { current: { version: 1, key: new Uint8Array(32).fill(7) } };
      const vault = await StoredKeyVault.load(async () => failing, { masterKeys });
      opened.push(vault);
      return vault;
    };
    const rowsOf = async (store: KeyStore, tenantId: string): Promise<StoredKey[]> => {
      const pages = await Promise.all(
        TABLES.map((table) => store.call('pageOfKeys', { table, limit: 10_000, tenantId })),
      );
      return pages.flatMap(({ rows }) => rows);
    };
    const valuesOf = async (store: KeyStore, tenantId: string): Promise<number> =>
      (await store.call('pageOfKeys', { table: 'sealed_values', limit: 10_000, tenantId })).rows.length;
    const dataKeys = (tenantId: string, ids: readonly string[], purpose = 'session'): StoredKey[] =>
      ids.map((id) => ({ tenantId, id, purpose, live: true, sealed: Buffer.alloc(60, 1) }));

    /** Two tenants, the first with more keys than a portion has. */
    const fill = async () => {
      const vault = await openVault();
      const made = { keyId: '', sealed: '' };
      for (const tenantId of [B, A]) {
        made.keyId = (await vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519')).keyId;
        await vault.sealing.createDataKey(tenantId, 'user', 'u1');
        made.sealed = await vault.sealing.sealText(tenantId, 'user', 'u1', 'text');
        await vault.expiringState.write(tenantId, 'state', 'text', { expiresAt: Date.now() + 60_000 });
      }
      const ids = Array.from({ length: 2100 }, (_, n) => `s${n}`);
      const store = await openStore();
      await store.call('keepKeys', { table: 'data_keys', add: dataKeys(A, ids), destroy: [] });
      const values = dataKeys(A, [...ids.slice(0, 40), 'no-key']).concat(dataKeys(B, ['no-key']));
      await store.call('keepKeys', { table: 'sealed_values', add: values, destroy: [] });
      expect(await valuesOf(store, A)).toBe(40);
      const { stored } = await vault.sealing.storeText(B, 'session', 'b1', 'value of B');
      return { ...made, store, stored };
    };

    it('makes everything of the tenant unreadable with its first step', async () => {
      const { keyId, sealed, store } = await fill();
      const vault = await openVault(0);
      const reported: KeysDestroyed[] = [];
      vault.onDestroyed((destroyed) => reported.push(destroyed));
      await expect(vault.destroyTenant(A)).rejects.toThrow('interrupted');
      expect(reported).toEqual([{ tenantId: A }]);
      const [tenantKey, ...others] = await rowsOf(store, A);
      expect([tenantKey!.live, others.length, others.every(({ live }) => live)]).toEqual([false, 2102, true]);
      expect(Buffer.from(tenantKey!.sealed).equals(Buffer.alloc(64))).toBe(true);
      for (const { sealing, signingKeys, expiringState } of [vault, await openVault()]) {
        expect(await sealing.openSealed(A, 'user', sealed)).toBe(ERASED);
        await expect(sealing.sealText(A, 'user', 'u1', 'text')).rejects.toThrow(KeyNotFound);
        await expect(sealing.createDataKey(A, 'user', 'u1')).rejects.toThrow(KeyNotFound);
        await expect(signingKeys.loadSigner(A, keyId)).rejects.toThrow(KeyNotFound);
        await expect(signingKeys.ensureSigningKey(A, 'did', 'Ed25519')).rejects.toThrow(KeyNotFound);
        await expect(signingKeys.createSigningKeys(A, 'did', ['Ed25519'], [keyId])).rejects.toThrow(KeyNotFound);
        expect(await signingKeys.listSigningKeys(A, 'did')).toEqual([]);
        expect(await expiringState.read(A, 'state')).toBe(ERASED);
      }
    });

    it.each([0, 1, 2, 3, 4, 5, 6, 7])(
      'that is interrupted after %d portions is finished by the next run',
      async (portions) => {
        const { store, stored } = await fill();
        await expect((await openVault(portions)).destroyTenant(A)).rejects.toThrow('interrupted');
        const vault = await openVault();
        for (let run = 0; run < 2; run++) {
          await vault.destroyTenant(A);
          const rows = await rowsOf(store, A);
          expect(rows).toHaveLength(2103);
          expect(rows.filter(({ live, sealed }) => live || sealed.some((byte) => byte !== 0))).toEqual([]);
          expect(await store.call('readExpiring', { tenant: A, name: 'state' })).toBeUndefined();
          expect(await valuesOf(store, A)).toBe(0);
        }
        expect((await rowsOf(store, B)).map(({ live }) => live)).toEqual([true, true, true, true]);
        expect(await vault.sealing.openStored(B, 'session', stored)).toBe('value of B');
        expect(await vault.expiringState.read(B, 'state')).toMatchObject({ text: 'text' });
      },
    );

    it('destroys a portion at a time, with all keys of its last name', async () => {
      const store = await openStore();
      const ids = ['a', 'b', 'c', 'd'];
      const add = [...dataKeys(A, ids, 'user'), ...dataKeys(A, ids), ...dataKeys(B, ids)];
      await store.call('keepKeys', { table: 'data_keys', add, destroy: [] });
      const portion = (after?: string) =>
        store.call('destroyRows', { tenant: A, table: 'data_keys', limit: 3, ...(after !== undefined && { after }) });
      const live = async () => (await rowsOf(store, A)).filter((row) => row.live).map(({ id }) => id);
      expect(await portion()).toBe('b');
      expect((await live()).sort()).toEqual(['c', 'c', 'd', 'd']);
      expect(await portion('b')).toBe('d');
      expect(await live()).toEqual([]);
      expect(await portion('d')).toBeUndefined();
      expect((await rowsOf(store, B)).every((row) => row.live)).toBe(true);
    });
  });
};
