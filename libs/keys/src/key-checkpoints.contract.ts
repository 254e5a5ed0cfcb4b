import { useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';

/** What every KeyCheckpoints must do. Jest's globals are used only when it is called. */
export const describeKeyCheckpoints = (adapter: string, create: () => Promise<KeyVaultStore>): void =>
  describe(`KeyCheckpoints: ${adapter}`, () => {
    const store = useFreshVault(create);

    it('keeps positions by name, also after a restart', async () => {
      expect(await store.vault.checkpoints.read('erasures')).toBeUndefined();
      await store.vault.checkpoints.write('erasures', '17');
      await store.vault.checkpoints.write('other', '3');
      await store.vault.checkpoints.write('erasures', '18');
      await store.reopen();
      expect(await store.vault.checkpoints.read('erasures')).toBe('18');
      expect(await store.vault.checkpoints.read('other')).toBe('3');
    });
  });
