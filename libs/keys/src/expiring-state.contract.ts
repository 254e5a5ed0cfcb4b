import type { ExpiringState } from './expiring-state.js';
import type { KeyVaultStore } from './keys.contract.js';
import { KeyNotFound, type KeyVault } from './key-vault.js';

/** What every ExpiringState must do. Jest's globals are used only when it is called. */
export const describeExpiringState = (adapter: string, create: () => Promise<KeyVaultStore>): void =>
  describe(`ExpiringState: ${adapter}`, () => {
    const A = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const B = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
    const later = Date.parse('2026-03-02T10:00:00.000Z');
    let store: KeyVaultStore;
    let vault: KeyVault;
    let state: ExpiringState;
    const reopen = async () => {
      await vault.close();
      vault = await store.open();
      state = vault.expiringState;
    };

    beforeEach(async () => {
      store = await create();
      vault = await store.open();
      state = vault.expiringState;
    });
    afterEach(async () => {
      await vault.close();
      await store.remove();
    });

    it('is kept under its version, by tenant and name, also after a restart', async () => {
      const first = await state.write(A, 'x', 'one', { expiresAt: later });
      expect(await state.write(A, 'x', 'two', { expiresAt: later })).toBeUndefined();
      expect(await state.read(B, 'x')).toBeUndefined();
      await reopen();
      expect(await state.read(A, 'x')).toEqual({ text: 'one', version: first, expiresAt: later });
      const second = await state.write(A, 'x', 'two', { after: first, expiresAt: later + 1 });
      expect(await state.write(A, 'x', 'three', { after: first, expiresAt: later })).toBeUndefined();
      await state.delete(A, 'x', first!);
      expect(await state.read(A, 'x')).toEqual({ text: 'two', version: second, expiresAt: later + 1 });
      await state.delete(A, 'x', second!);
      expect(await state.read(A, 'x')).toBeUndefined();
    });

    it('has one writer of several at once', async () => {
      const versions = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) => state.write(A, 'y', text, { expiresAt: later })),
      );
      expect(versions.filter((version) => version !== undefined)).toHaveLength(1);
    });

    it('has one writer of several that replace the same version at once', async () => {
      const after = await state.write(A, 'z', 'first', { expiresAt: later });
      const versions = await Promise.all(
        ['a', 'b', 'c', 'd'].map((text) => state.write(A, 'z', text, { after, expiresAt: later })),
      );
      const [version] = versions.filter((it) => it !== undefined);
      expect(versions.filter((it) => it !== undefined)).toHaveLength(1);
      expect(await state.read(A, 'z')).toMatchObject({ version });
    });

    it('is deleted when it has expired, and no earlier', async () => {
      await state.write(A, 'short', 'one', { expiresAt: later });
      await state.write(A, 'long', 'two', { expiresAt: later + 1 });
      await state.deleteExpired(new Date(later));
      expect(await state.read(A, 'short')).toBeUndefined();
      expect(await state.read(A, 'long')).toMatchObject({ text: 'two' });
    });

    it('ends with its tenant, and no other does', async () => {
      await state.write(A, 'x', 'one', { expiresAt: later });
      await state.write(B, 'x', 'other', { expiresAt: later });
      await vault.destroyTenant(A);
      expect(await state.read(A, 'x')).toBeUndefined();
      await expect(state.write(A, 'x', 'two', { expiresAt: later })).rejects.toThrow(KeyNotFound);
      expect(await state.read(B, 'x')).toMatchObject({ text: 'other' });
    });
  });

/** What every KeyCheckpoints must do. */
export const describeKeyCheckpoints = (adapter: string, create: () => Promise<KeyVaultStore>): void =>
  describe(`KeyCheckpoints: ${adapter}`, () => {
    it('keeps positions by name, also after a restart', async () => {
      const store = await create();
      let vault = await store.open();
      expect(await vault.checkpoints.read('erasures')).toBeUndefined();
      await vault.checkpoints.write('erasures', '17');
      await vault.checkpoints.write('other', '3');
      await vault.checkpoints.write('erasures', '18');
      await vault.close();
      vault = await store.open();
      expect(await vault.checkpoints.read('erasures')).toBe('18');
      expect(await vault.checkpoints.read('other')).toBe('3');
      await vault.close();
      await store.remove();
    });
  });
