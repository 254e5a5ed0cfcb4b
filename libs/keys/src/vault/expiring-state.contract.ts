import { TENANT_A as A, TENANT_B as B, useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';
import { KeyNotFound } from './key-vault.js';

/** Behavior of every ExpiringState. Jest's globals are used only when it is called. */
export const describeExpiringState = (adapter: string, create: () => Promise<KeyVaultStore>): void =>
  describe(`ExpiringState: ${adapter}`, () => {
    const store = useFreshVault(create);
    const later = Date.parse('2026-03-02T10:00:00.000Z');

    it('is stored with its version, by tenant and name, also after a restart', async () => {
      const first = await store.vault.expiringState.write(A, 'x', 'one', { expiresAt: later });
      expect(await store.vault.expiringState.write(A, 'x', 'two', { expiresAt: later })).toBeUndefined();
      expect(await store.vault.expiringState.read(B, 'x')).toBeUndefined();
      await store.reopen();
      expect(await store.vault.expiringState.read(A, 'x')).toEqual({ text: 'one', version: first, expiresAt: later });
      const second = await store.vault.expiringState.write(A, 'x', 'two', { after: first, expiresAt: later + 1 });
      expect(
        await store.vault.expiringState.write(A, 'x', 'three', { after: first, expiresAt: later }),
      ).toBeUndefined();
      await store.vault.expiringState.delete(A, 'x', first!);
      expect(await store.vault.expiringState.read(A, 'x')).toEqual({
        text: 'two',
        version: second,
        expiresAt: later + 1,
      });
      await store.vault.expiringState.delete(A, 'x', second!);
      expect(await store.vault.expiringState.read(A, 'x')).toBeUndefined();
    });

    it('accepts one of several concurrent writers', async () => {
      const versions = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) => store.vault.expiringState.write(A, 'y', text, { expiresAt: later })),
      );
      expect(versions.filter((version) => version !== undefined)).toHaveLength(1);
    });

    it('accepts one of several concurrent writers that replace the same version', async () => {
      const after = await store.vault.expiringState.write(A, 'z', 'first', { expiresAt: later });
      const versions = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) => store.vault.expiringState.write(A, 'z', text, { after, expiresAt: later })),
      );
      const [version] = versions.filter((it) => it !== undefined);
      expect(versions.filter((it) => it !== undefined)).toHaveLength(1);
      expect(await store.vault.expiringState.read(A, 'z')).toMatchObject({ version });
    });

    it('is deleted when it has expired, and not earlier', async () => {
      await store.vault.expiringState.write(A, 'short', 'one', { expiresAt: later });
      await store.vault.expiringState.write(A, 'long', 'two', { expiresAt: later + 1 });
      await store.vault.expiringState.deleteExpired(new Date(later));
      expect(await store.vault.expiringState.read(A, 'short')).toBeUndefined();
      expect(await store.vault.expiringState.read(A, 'long')).toMatchObject({ text: 'two' });
    });

    it('is deleted with its tenant, and that of other tenants is not', async () => {
      await store.vault.expiringState.write(A, 'x', 'one', { expiresAt: later });
      await store.vault.expiringState.write(B, 'x', 'other', { expiresAt: later });
      await store.vault.destroyTenant(A);
      expect(await store.vault.expiringState.read(A, 'x')).toBeUndefined();
      await expect(store.vault.expiringState.write(A, 'x', 'two', { expiresAt: later })).rejects.toThrow(KeyNotFound);
      expect(await store.vault.expiringState.read(B, 'x')).toMatchObject({ text: 'other' });
    });
  });
