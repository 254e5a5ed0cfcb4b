import { TENANT_A as A, TENANT_B as B, useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';
import { KeyAlreadyExists, KeyNotFound, SealBroken } from './key-vault.js';
import { ERASED, isErased } from './sealing.js';

/** What every Sealing must do. */
export const describeSealing = (adapter: string, create: () => Promise<KeyVaultStore>): void => {
  describe(`Sealing: ${adapter}`, () => {
    const store = useFreshVault(create);
    const sealing = () => store.vault.sealing;

    it('encrypts and decrypts any text, also after a restart', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const texts = ['', 'plain', 'ä 漢 🙂', 'x'.repeat(100_000)];
      const sealed = await Promise.all(texts.map((text) => sealing().sealText(A, 'user', 'u1', text)));
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        expect(await Promise.all(sealed.map((text) => sealing().openSealed(A, 'user', text)))).toEqual(texts);
      }
    });

    it('encrypts the same text differently each time, with only version and key id in plain text', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const sealed = await Promise.all(['same', 'same'].map((text) => sealing().sealText(A, 'user', 'u1', text)));
      expect(sealed[0]).not.toBe(sealed[1]);
      expect(sealed[0]).toMatch(/^v1\.u1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
    });

    it('creating a key twice, concurrently or later, keeps the first', async () => {
      await Promise.all([1, 2, 3].map(() => sealing().createDataKey(A, 'user', 'u1')));
      const sealed = await sealing().sealText(A, 'user', 'u1', 'text');
      await sealing().createDataKey(A, 'user', 'u1');
      await store.reopen();
      await sealing().createDataKey(A, 'user', 'u1');
      expect(await sealing().openSealed(A, 'user', sealed)).toBe('text');
    });

    it('encrypts with a key that is not yet stored', async () => {
      const making = sealing().createDataKey(A, 'user', 'u1');
      const early = await sealing().sealText(A, 'user', 'u1', 'early');
      const { sealed, newKey } = sealing().sealWithNewKey(A, 'session', 's1', 'first');
      const durable = newKey.store();
      const second = await sealing().sealText(A, 'session', 's1', 'second');
      expect(await sealing().openSealed(A, 'session', second)).toBe('second');
      await Promise.all([making, durable]);
      await store.reopen();
      expect(await sealing().openSealed(A, 'user', early)).toBe('early');
      expect(await sealing().openSealed(A, 'session', sealed)).toBe('first');
      expect(await sealing().openSealed(A, 'session', second)).toBe('second');
    });

    it('sealWithNewKey refuses an id that has a key, in memory, not yet stored or only on disk, without side effects', async () => {
      await sealing().createDataKey(A, 'session', 's1');
      const sealed = await sealing().sealText(A, 'session', 's1', 'kept');
      await expect(sealing().sealWithNewKey(A, 'session', 's1', 'x').newKey.store()).rejects.toThrow(KeyAlreadyExists);
      await store.reopen();
      await expect(sealing().sealWithNewKey(A, 'session', 's1', 'x').newKey.store()).rejects.toThrow(KeyAlreadyExists);
      expect(await sealing().openSealed(A, 'session', sealed)).toBe('kept');
      const [one, two] = ['one', 'two'].map((text) => sealing().sealWithNewKey(A, 'session', 's2', text));
      const stored = [one!, two!].map(({ newKey }) => newKey.store());
      await stored[0];
      await expect(stored[1]).rejects.toThrow(KeyAlreadyExists);
      expect(await sealing().openSealed(A, 'session', one!.sealed)).toBe('one');
    });

    it('keeps tenants, purposes and keys apart', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      await sealing().createDataKey(A, 'user', 'u2');
      await sealing().createDataKey(A, 'session', 'u1');
      await sealing().createDataKey(B, 'user', 'u1');
      const sealed = await sealing().sealText(A, 'user', 'u1', 'text');
      await expect(sealing().openSealed(B, 'user', sealed)).rejects.toThrow(SealBroken);
      await expect(sealing().openSealed(A, 'session', sealed)).rejects.toThrow(SealBroken);
      await expect(sealing().openSealed(A, 'user', sealed.replace('.u1.', '.u2.'))).rejects.toThrow(SealBroken);
      await sealing().destroyDataKeys(B, ['u1']);
      expect(await sealing().openSealed(A, 'user', sealed)).toBe('text');
    });

    it('refuses modified and malformed text', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const sealed = await sealing().sealText(A, 'user', 'u1', 'some text');
      const flip = (at: number) => sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
      const broken = [flip(6), flip(sealed.length - 8), sealed.slice(0, -4), `v2${sealed.slice(2)}`, '', 'v1.u1'];
      for (const text of broken) await expect(sealing().openSealed(A, 'user', text)).rejects.toThrow(SealBroken);
    });

    it('a missing key: KeyNotFound for encryption and decryption', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const sealed = await sealing().sealText(A, 'user', 'u1', 'text');
      await expect(sealing().sealText(A, 'user', 'u2', 'text')).rejects.toThrow(KeyNotFound);
      await expect(sealing().openSealed(A, 'user', sealed.replace('.u1.', '.u2.'))).rejects.toThrow(KeyNotFound);
    });

    it('a destroyed key: decryption returns ERASED, encryption fails with KeyNotFound, and the id cannot be used again', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const sealed = await sealing().sealText(A, 'user', 'u1', 'text');
      await sealing().destroyDataKeys(A, ['u1', 'never-was']);
      await sealing().destroyDataKeys(A, ['u1']);
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        expect(await sealing().openSealed(A, 'user', sealed)).toBe(ERASED);
        expect(isErased(await sealing().openSealed(A, 'user', sealed))).toBe(true);
        await expect(sealing().sealText(A, 'user', 'u1', 'text')).rejects.toThrow(KeyNotFound);
        for (const id of ['u1', 'never-was']) {
          await expect(sealing().createDataKey(A, 'user', id)).rejects.toThrow(KeyNotFound);
          await expect(sealing().sealWithNewKey(A, 'session', id, 'text').newKey.store()).rejects.toThrow(KeyNotFound);
        }
        expect(await sealing().openSealed(A, 'user', sealed)).toBe(ERASED);
      }
    });

    it('a destruction takes precedence over concurrent reads and creations', async () => {
      await sealing().createDataKey(A, 'user', 'u1');
      const sealed = await sealing().sealText(A, 'user', 'u1', 'text');
      await store.reopen();
      const reading = sealing().openSealed(A, 'user', sealed);
      const made = sealing().sealWithNewKey(A, 'session', 's1', 'text');
      const stored = made.newKey.store();
      const [opened] = await Promise.all([
        reading,
        sealing().destroyDataKeys(A, ['u1', 's1']),
        Promise.allSettled([stored]),
      ]);
      expect(['text', ERASED]).toContain(opened);
      expect(await sealing().openSealed(A, 'user', sealed)).toBe(ERASED);
      expect(await sealing().openSealed(A, 'session', made.sealed)).toBe(ERASED);
    });
  });
};
