import { TENANT_A as A, TENANT_B as B, useFreshVault, type KeyVaultStore } from './fresh-vault.contract.js';
import { KeyAlreadyExists, KeyNotFound, SealBroken } from './key-vault.js';
import { ERASED, isErased } from './sealing.js';

/** Behavior of every Sealing. */
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

    it('stores a value with its new key, opened by what names it, also elsewhere and after a restart', async () => {
      const texts = ['', 'ä 漢 🙂', 'x'.repeat(400_000)];
      const made = texts.map((text, n) => sealing().storeWithNewKey(A, 'session', `s${n}`, text));
      await Promise.all(made.map(({ newKey }) => newKey.store()));
      const elsewhere = await store.open();
      try {
        for (const other of [sealing(), elsewhere.sealing])
          for (const [n, { stored }] of made.entries()) {
            expect(await other.openStored(A, 'session', stored)).toBe(texts[n]);
            expect(stored).toEqual({
              keyId: `s${n}`,
              length: Buffer.byteLength(texts[n]!) + 28,
              sha256: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/) as string,
            });
          }
      } finally {
        await elsewhere.close();
      }
      await store.reopen();
      for (const [n, { stored }] of made.entries())
        expect(await sealing().openStored(A, 'session', stored)).toBe(texts[n]);
    });

    it('a stored value is refused where its length, hash or key is another, and where there is none', async () => {
      const { stored, newKey } = sealing().storeWithNewKey(A, 'session', 's1', 'some text');
      await newKey.store();
      await sealing().storeWithNewKey(A, 'session', 's2', 'other text').newKey.store();
      await sealing().createDataKey(A, 'session', 's3');
      await sealing().createDataKey(A, 'user', 's1');
      const open = (changed: object) => sealing().openStored(A, 'session', { ...stored, ...changed });
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        for (const changed of [{ length: 1 }, { sha256: 'A'.repeat(43) }, { keyId: 's2' }, { keyId: 's3' }])
          await expect(open(changed)).rejects.toThrow(SealBroken);
        await expect(open({ keyId: 's4' })).rejects.toThrow(KeyNotFound);
        await expect(sealing().openStored(A, 'user', stored)).rejects.toThrow(SealBroken);
        await expect(sealing().openStored(B, 'session', stored)).rejects.toThrow(KeyNotFound);
        expect(await open({})).toBe('some text');
      }
    });

    it('a stored value ends with its key, and no other one does', async () => {
      const made = ['s1', 's2'].map((id) => sealing().storeWithNewKey(A, 'session', id, `text of ${id}`));
      const same = sealing().storeWithNewKey(B, 'session', 's1', 'text of B');
      await Promise.all([...made, same].map(({ newKey }) => newKey.store()));
      await sealing().destroyDataKeys(A, ['s1']);
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        expect(await sealing().openStored(A, 'session', made[0]!.stored)).toBe(ERASED);
        expect(await sealing().openStored(A, 'session', made[1]!.stored)).toBe('text of s2');
        expect(await sealing().openStored(B, 'session', same.stored)).toBe('text of B');
        await expect(sealing().storeWithNewKey(A, 'session', 's1', 'x').newKey.store()).rejects.toThrow(KeyNotFound);
        await expect(sealing().storeText(A, 'session', 's1', 'x')).rejects.toThrow(KeyNotFound);
      }
    });

    it('storeText keeps what an earlier call stored, also under a key that had no value', async () => {
      const { stored: first } = await sealing().storeText(A, 'session', 's1', 'first');
      const { sealed, newKey } = sealing().sealWithNewKey(A, 'session', 's2', 'in an event');
      await newKey.store();
      for (const restart of [false, true]) {
        if (restart) await store.reopen();
        expect(await sealing().storeText(A, 'session', 's1', 'second')).toEqual({ stored: first });
        expect(await sealing().openStored(A, 'session', first)).toBe('first');
        const { stored: second } = await sealing().storeText(A, 'session', 's2', 'of a repeated call');
        expect(await sealing().openStored(A, 'session', second)).toBe('of a repeated call');
        expect(await sealing().openSealed(A, 'session', sealed)).toBe('in an event');
      }
      await expect(sealing().storeWithNewKey(A, 'session', 's1', 'x').newKey.store()).rejects.toThrow(KeyAlreadyExists);
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
