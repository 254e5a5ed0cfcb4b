import { useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';

/** Behavior of every KeyCheckpoints. Jest's globals are used only when it is called. */
export const describeKeyCheckpoints = (adapter: string, create: () => Promise<KeyVaultStore>): void =>
  describe(`KeyCheckpoints: ${adapter}`, () => {
    const store = useFreshVault(create);

    it('keeps positions by name, also after a restart', async () => {
      expect(await store.vault.checkpoints.read('erasures')).toBeUndefined();
      expect(await store.vault.checkpoints.write('erasures', '17', undefined)).toBe(true);
      expect(await store.vault.checkpoints.write('other', '3', undefined)).toBe(true);
      expect(await store.vault.checkpoints.write('erasures', '18', '17')).toBe(true);
      await store.reopen();
      expect(await store.vault.checkpoints.read('erasures')).toBe('18');
      expect(await store.vault.checkpoints.read('other')).toBe('3');
    });

    it('keeps the position that another writer has stored meanwhile, a later one as well as an earlier one', async () => {
      const { checkpoints } = store.vault;
      expect(await checkpoints.write('erasures', '20', '10')).toBe(false);
      expect(await checkpoints.read('erasures')).toBeUndefined();
      await checkpoints.write('erasures', '20', undefined);
      for (const [position, previous] of [
        ['30', undefined],
        ['30', '10'],
        ['10', '15'],
      ] as const)
        expect(await checkpoints.write('erasures', position, previous)).toBe(false);
      expect(await checkpoints.read('erasures')).toBe('20');
      expect(await checkpoints.write('erasures', '5', '20')).toBe(true);
      expect(await checkpoints.read('erasures')).toBe('5');
    });

    it('lets one of several writers continue a position', async () => {
      const { checkpoints } = store.vault;
      await checkpoints.write('erasures', '1', undefined);
      const written = await Promise.all(
        ['2', '3', '4'].map((position) => checkpoints.write('erasures', position, '1')),
      );
      expect(written.filter(Boolean)).toHaveLength(1);
      expect(await checkpoints.read('erasures')).toBe(['2', '3', '4'][written.indexOf(true)]);
    });
  });
