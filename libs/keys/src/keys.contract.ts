import { verify } from 'node:crypto';
import {
  ERASED,
  KeyAlreadyExists,
  KeyNotFound,
  SealBroken,
  isErased,
  type KeyVault,
  type KeysDestroyed,
  type ReplayGuard,
} from './key-vault.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** One fresh store; `open` may be called again after a close and then finds what was stored. */
export interface KeyVaultStore {
  open(): Promise<KeyVault>;
  remove(): Promise<void>;
}

/** What every KeyVault must do. Jest's globals are used only when it is called. */
export const describeKeyVault = (adapter: string, create: () => Promise<KeyVaultStore>): void => {
  describe(`KeyVault: ${adapter}`, () => {
    const A = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const B = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
    let store: KeyVaultStore;
    let vault: KeyVault;
    const reopen = async () => {
      await vault.close();
      vault = await store.open();
    };

    beforeEach(async () => {
      store = await create();
      vault = await store.open();
    });
    afterEach(async () => {
      await vault.close();
      await store.remove();
    });

    describe('signing keys', () => {
      it('made under chosen ids are made once', async () => {
        const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
        const made = await vault.createSigningKeys(A, 'did', ['P-256', 'Ed25519'], ids);
        expect(made.map(({ keyId }) => keyId)).toEqual(ids);
        await reopen();
        expect(await vault.createSigningKeys(A, 'did', ['P-256', 'Ed25519'], ids)).toEqual(made);
        expect(await vault.listSigningKeys(A, 'did')).toEqual(made);
      });

      it('makes several in one go and lists them oldest first, by tenant and purpose, also after a restart', async () => {
        const made = await vault.createSigningKeys(A, 'did', ['P-256', 'Ed25519', 'X25519', 'Bls12381G2']);
        const later = await vault.createSigningKey(A, 'did', 'P-256');
        await vault.createSigningKey(A, 'webhook', 'Ed25519');
        await vault.createSigningKey(B, 'did', 'Ed25519');
        expect(made.map((key) => [key.tenantId, key.purpose, key.algorithm])).toEqual([
          [A, 'did', 'P-256'],
          [A, 'did', 'Ed25519'],
          [A, 'did', 'X25519'],
          [A, 'did', 'Bls12381G2'],
        ]);
        expect(await vault.listSigningKeys(A, 'did')).toEqual([...made, later]);
        await reopen();
        expect(await vault.listSigningKeys(A, 'did')).toEqual([...made, later]);
      });

      it('shows no private member', async () => {
        await vault.createSigningKeys(A, 'did', ['P-256', 'Ed25519', 'X25519', 'Bls12381G2']);
        const members = (await vault.listSigningKeys(A, 'did')).map((key) => Object.keys(key.publicJwk).sort());
        expect(members).toEqual([
          ['crv', 'kty', 'x', 'y'],
          ['crv', 'kty', 'x'],
          ['crv', 'kty', 'x'],
          ['crv', 'kty', 'x'],
        ]);
      });

      it('signs ES256 as raw r and s, and Ed25519; the signatures verify, also after a restart', async () => {
        const [ec, ed] = await vault.createSigningKeys(A, 'did', ['P-256', 'Ed25519']);
        const data = Buffer.from('signed');
        for (const restart of [false, true]) {
          if (restart) await reopen();
          const es256 = await vault.signer(A, ec!.keyId);
          const eddsa = await vault.signer(A, ed!.keyId);
          expect([es256.algorithm, es256.publicJwk]).toEqual(['P-256', ec!.publicJwk]);
          const signature = es256.sign(data);
          expect(signature).toHaveLength(64);
          const key = { key: es256.publicKey, dsaEncoding: 'ieee-p1363' as const };
          expect(verify('sha256', data, key, signature)).toBe(true);
          expect(verify('sha256', Buffer.from('other'), key, signature)).toBe(false);
          expect(verify(null, data, eddsa.publicKey, eddsa.sign(data))).toBe(true);
          expect(verify('sha256', data, key, await es256.signAside(data))).toBe(true);
          expect(verify(null, data, eddsa.publicKey, await eddsa.signAside(data))).toBe(true);
        }
      });

      it('refuses a signer for a key that cannot sign, an unknown key and another tenant', async () => {
        const ec = await vault.createSigningKey(A, 'did', 'P-256');
        await vault.signer(A, ec.keyId);
        for (const { keyId } of await vault.createSigningKeys(A, 'did', ['X25519', 'Bls12381G2']))
          await expect(vault.signer(A, keyId)).rejects.toThrow(TypeError);
        await expect(vault.signer(A, 'unknown')).rejects.toThrow(KeyNotFound);
        await expect(vault.signer(B, ec.keyId)).rejects.toThrow(KeyNotFound);
      });

      it('ensures one key for concurrent callers, then gives the newest', async () => {
        const ensured = await Promise.all(
          Array.from({ length: 20 }, () => vault.ensureSigningKey(A, 'token', 'Ed25519')),
        );
        expect(new Set(ensured.map((key) => key.keyId)).size).toBe(1);
        expect(await vault.listSigningKeys(A, 'token')).toHaveLength(1);
        const newer = await vault.createSigningKey(A, 'token', 'Ed25519');
        expect(await vault.ensureSigningKey(A, 'token', 'Ed25519')).toEqual(newer);
        await vault.destroy(A, [newer.keyId]);
        expect(await vault.ensureSigningKey(A, 'token', 'Ed25519')).toEqual(ensured[0]);
      });

      it('destroys: no signer, not listed, also after a restart; the others stay', async () => {
        const [gone, kept] = await vault.createSigningKeys(A, 'did', ['P-256', 'P-256']);
        await vault.signer(A, gone!.keyId);
        await vault.destroy(A, [gone!.keyId]);
        for (const restart of [false, true]) {
          if (restart) await reopen();
          await expect(vault.signer(A, gone!.keyId)).rejects.toThrow(KeyNotFound);
          expect(await vault.listSigningKeys(A, 'did')).toEqual([kept]);
        }
      });
    });

    describe('data keys', () => {
      it('seals and opens any text, also after a restart', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const texts = ['', 'plain', 'ä 漢 🙂', 'x'.repeat(100_000)];
        const sealed = await Promise.all(texts.map((text) => vault.seal(A, 'user', 'u1', text)));
        for (const restart of [false, true]) {
          if (restart) await reopen();
          expect(await Promise.all(sealed.map((text) => vault.open(A, 'user', text)))).toEqual(texts);
        }
      });

      it('seals the same text differently each time and names only version and key in clear', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const sealed = await Promise.all(['same', 'same'].map((text) => vault.seal(A, 'user', 'u1', text)));
        expect(sealed[0]).not.toBe(sealed[1]);
        expect(sealed[0]).toMatch(/^v1\.u1\.[A-Za-z0-9_-]{16}\.[A-Za-z0-9_-]+$/);
      });

      it('making a key twice, at once or later, keeps the first', async () => {
        await Promise.all([1, 2, 3].map(() => vault.createDataKey(A, 'user', 'u1')));
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        await vault.createDataKey(A, 'user', 'u1');
        await reopen();
        await vault.createDataKey(A, 'user', 'u1');
        expect(await vault.open(A, 'user', sealed)).toBe('text');
      });

      it('seals with a key that is still on its way', async () => {
        const making = vault.createDataKey(A, 'user', 'u1');
        const early = await vault.seal(A, 'user', 'u1', 'early');
        const { sealed, durable } = vault.sealWithNewKey(A, 'session', 's1', 'first');
        const second = await vault.seal(A, 'session', 's1', 'second');
        expect(await vault.open(A, 'session', second)).toBe('second');
        await Promise.all([making, durable]);
        await reopen();
        expect(await vault.open(A, 'user', early)).toBe('early');
        expect(await vault.open(A, 'session', sealed)).toBe('first');
        expect(await vault.open(A, 'session', second)).toBe('second');
      });

      it('sealWithNewKey refuses an id that has a key, in memory, on its way or only on disk, and harms nothing', async () => {
        await vault.createDataKey(A, 'session', 's1');
        const sealed = await vault.seal(A, 'session', 's1', 'kept');
        await expect(vault.sealWithNewKey(A, 'session', 's1', 'x').durable).rejects.toThrow(KeyAlreadyExists);
        await reopen();
        await expect(vault.sealWithNewKey(A, 'session', 's1', 'x').durable).rejects.toThrow(KeyAlreadyExists);
        expect(await vault.open(A, 'session', sealed)).toBe('kept');
        const [one, two] = ['one', 'two'].map((text) => vault.sealWithNewKey(A, 'session', 's2', text));
        await one!.durable;
        await expect(two!.durable).rejects.toThrow(KeyAlreadyExists);
        expect(await vault.open(A, 'session', one!.sealed)).toBe('one');
      });

      it('keeps tenants, purposes and keys apart', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        await vault.createDataKey(A, 'user', 'u2');
        await vault.createDataKey(A, 'session', 'u1');
        await vault.createDataKey(B, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        await expect(vault.open(B, 'user', sealed)).rejects.toThrow(SealBroken);
        await expect(vault.open(A, 'session', sealed)).rejects.toThrow(SealBroken);
        await expect(vault.open(A, 'user', sealed.replace('.u1.', '.u2.'))).rejects.toThrow(SealBroken);
        await vault.destroy(B, ['u1']);
        expect(await vault.open(A, 'user', sealed)).toBe('text');
      });

      it('refuses changed and malformed text', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'some text');
        const flip = (at: number) => sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1);
        const broken = [flip(6), flip(sealed.length - 8), sealed.slice(0, -4), `v2${sealed.slice(2)}`, '', 'v1.u1'];
        for (const text of broken) await expect(vault.open(A, 'user', text)).rejects.toThrow(SealBroken);
      });

      it('a key that never was: KeyNotFound for sealing and for opening', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        await expect(vault.seal(A, 'user', 'u2', 'text')).rejects.toThrow(KeyNotFound);
        await expect(vault.open(A, 'user', sealed.replace('.u1.', '.u2.'))).rejects.toThrow(KeyNotFound);
      });

      it('destroyed: opening yields ERASED, sealing KeyNotFound, and the id never lives again', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        await vault.destroy(A, ['u1', 'never-was']);
        await vault.destroy(A, ['u1']);
        for (const restart of [false, true]) {
          if (restart) await reopen();
          expect(await vault.open(A, 'user', sealed)).toBe(ERASED);
          expect(isErased(await vault.open(A, 'user', sealed))).toBe(true);
          await expect(vault.seal(A, 'user', 'u1', 'text')).rejects.toThrow(KeyNotFound);
          for (const id of ['u1', 'never-was']) {
            await expect(vault.createDataKey(A, 'user', id)).rejects.toThrow(KeyNotFound);
            await expect(vault.sealWithNewKey(A, 'session', id, 'text').durable).rejects.toThrow(KeyNotFound);
          }
          expect(await vault.open(A, 'user', sealed)).toBe(ERASED);
        }
      });

      it('a destruction wins over readers and makers under way', async () => {
        await vault.createDataKey(A, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        await reopen();
        const reading = vault.open(A, 'user', sealed);
        const made = vault.sealWithNewKey(A, 'session', 's1', 'text');
        const [opened] = await Promise.all([
          reading,
          vault.destroy(A, ['u1', 's1']),
          Promise.allSettled([made.durable]),
        ]);
        expect(['text', ERASED]).toContain(opened);
        expect(await vault.open(A, 'user', sealed)).toBe(ERASED);
        expect(await vault.open(A, 'session', made.sealed)).toBe(ERASED);
      });
    });

    describe('tenant purge', () => {
      it('ends every key of the tenant for good and no other', async () => {
        const key = await vault.createSigningKey(A, 'did', 'P-256');
        await vault.createDataKey(A, 'user', 'u1');
        await vault.createDataKey(B, 'user', 'u1');
        const sealed = await vault.seal(A, 'user', 'u1', 'text');
        const other = await vault.seal(B, 'user', 'u1', 'text');
        await vault.signer(A, key.keyId);
        await vault.destroyTenant(A);
        for (const restart of [false, true]) {
          if (restart) await reopen();
          expect(await vault.open(A, 'user', sealed)).toBe(ERASED);
          await expect(vault.signer(A, key.keyId)).rejects.toThrow(KeyNotFound);
          expect(await vault.listSigningKeys(A, 'did')).toEqual([]);
          await expect(vault.createSigningKey(A, 'did', 'P-256')).rejects.toThrow(KeyNotFound);
          await expect(vault.ensureSigningKey(A, 'did', 'P-256')).rejects.toThrow(KeyNotFound);
          await expect(vault.createDataKey(A, 'user', 'u2')).rejects.toThrow(KeyNotFound);
          expect(await vault.open(B, 'user', other)).toBe('text');
        }
      });
    });

    describe('evictions', () => {
      it('are told to listeners until they stop, keys and whole tenants', async () => {
        const told: KeysDestroyed[] = [];
        const stop = vault.onDestroyed((destroyed) => told.push(destroyed));
        await vault.createDataKey(A, 'user', 'u1');
        await vault.destroy(A, ['u1', 'u2']);
        await vault.destroy(A, []);
        await vault.destroyTenant(B);
        stop();
        await vault.destroy(A, ['u3']);
        expect(told).toEqual([{ tenantId: A, keyIds: ['u1', 'u2'] }, { tenantId: B }]);
      });

      it('received from elsewhere make this vault look at the store again', async () => {
        const elsewhere = await store.open();
        try {
          elsewhere.onDestroyed(({ tenantId, keyIds }) => vault.evict(tenantId, keyIds));
          const key = await vault.createSigningKey(A, 'did', 'P-256');
          await vault.createDataKey(A, 'user', 'u1');
          await vault.createDataKey(A, 'user', 'u2');
          const [one, two] = await Promise.all(['u1', 'u2'].map((id) => vault.seal(A, 'user', id, 'text')));
          await vault.signer(A, key.keyId);
          await elsewhere.destroy(A, ['u1', key.keyId]);
          expect(await vault.open(A, 'user', one!)).toBe(ERASED);
          await expect(vault.signer(A, key.keyId)).rejects.toThrow(KeyNotFound);
          expect(await vault.open(A, 'user', two!)).toBe('text');
          await elsewhere.destroyTenant(A);
          expect(await vault.open(A, 'user', two!)).toBe(ERASED);
        } finally {
          await elsewhere.close();
        }
      });
    });

    describe('MACs of secrets', () => {
      it('verify for the same secret and context only, also after a restart', async () => {
        const mac = vault.mac('1234', 'offer-1');
        const bare = vault.mac('1234');
        expect(mac.mac).toMatch(/^[A-Za-z0-9_-]{43}$/);
        for (const restart of [false, true]) {
          if (restart) await reopen();
          expect(vault.verifyMac('1234', mac, 'offer-1')).toBe(true);
          expect(vault.verifyMac('1234', bare)).toBe(true);
          expect(vault.verifyMac('1235', mac, 'offer-1')).toBe(false);
          expect(vault.verifyMac('1234', mac, 'offer-2')).toBe(false);
          expect(vault.verifyMac('1234', mac)).toBe(false);
          expect(vault.verifyMac('1234', bare, '')).toBe(false);
        }
      });

      it('do not confuse where the context ends, nor take a broken MAC or a foreign pepper', () => {
        expect(vault.verifyMac('234', vault.mac('34', 'offer-12'), 'offer-1')).toBe(false);
        const mac = vault.mac('secret');
        expect(vault.verifyMac('secret', { ...mac, mac: '' })).toBe(false);
        expect(vault.verifyMac('secret', { ...mac, mac: mac.mac.slice(0, 20) })).toBe(false);
        // 32 bytes are 43 characters: the last two bits of the last one mean nothing to a decoder.
        const last = ALPHABET.indexOf(mac.mac.at(-1)!);
        for (const respelled of [mac.mac.slice(0, -1) + ALPHABET[last ^ 1], `${mac.mac}=`, `${mac.mac} `])
          expect(vault.verifyMac('secret', { ...mac, mac: respelled })).toBe(false);
        expect(vault.verifyMac('secret', { ...mac, pepper: 'unknown' })).toBe(false);
      });
    });

    it('rejects after it was closed', async () => {
      await vault.close();
      await expect(vault.createDataKey(A, 'user', 'u1')).rejects.toThrow();
      vault = await store.open();
    });
  });
};

export interface ReplayGuardStore {
  /** With the store's own clock, which the suite turns. */
  open(clock: () => Date): Promise<ReplayGuard>;
  remove(): Promise<void>;
}

/** What every ReplayGuard must do. */
export const describeReplayGuard = (adapter: string, create: () => Promise<ReplayGuardStore>): void => {
  describe(`ReplayGuard: ${adapter}`, () => {
    let store: ReplayGuardStore;
    let guard: ReplayGuard;
    let now: number;
    const clock = () => new Date(now);
    const inSeconds = (seconds: number) => new Date(now + seconds * 1000);

    beforeEach(async () => {
      now = Date.UTC(2030, 0, 1);
      store = await create();
      guard = await store.open(clock);
    });
    afterEach(async () => {
      await guard.close();
      await store.remove();
    });

    it('takes a value once, by scope, also after a restart', async () => {
      const until = inSeconds(300);
      expect(await guard.spend('nonce', 'v', until)).toBe(true);
      expect(await guard.spend('nonce', 'v', until)).toBe(false);
      expect(await guard.spend('proof', 'v', until)).toBe(true);
      expect(await guard.spend('nonc', 'ev', until)).toBe(true);
      await guard.close();
      guard = await store.open(clock);
      expect(await guard.spend('nonce', 'v', until)).toBe(false);
    });

    it('gives exactly one true to concurrent callers, over two connections', async () => {
      const other = await store.open(clock);
      try {
        const until = inSeconds(300);
        const outcomes = await Promise.all(
          Array.from({ length: 400 }, async (_, i) => {
            const value = `v${i % 40}`;
            return { value, spent: await (i % 3 ? guard : other).spend('nonce', value, until) };
          }),
        );
        const won = outcomes.filter((outcome) => outcome.spent).map((outcome) => outcome.value);
        expect(won.sort()).toEqual(Array.from({ length: 40 }, (_, i) => `v${i}`).sort());
      } finally {
        await other.close();
      }
    });

    it('refuses a value past its life, whether it was spent or not', async () => {
      const until = inSeconds(10);
      expect(await guard.spend('nonce', 'spent', until)).toBe(true);
      now += 10_000;
      expect(await guard.spend('nonce', 'spent', until)).toBe(false);
      expect(await guard.spend('nonce', 'fresh', until)).toBe(false);
    });

    it('takes a value again in a new life', async () => {
      expect(await guard.spend('jti', 'v', inSeconds(10))).toBe(true);
      expect(await guard.spend('jti', 'v', inSeconds(60))).toBe(false);
      now += 10_000;
      expect(await guard.spend('jti', 'v', inSeconds(10))).toBe(true);
    });

    it('refuses an invalid date and rejects after it was closed', async () => {
      await expect(guard.spend('nonce', 'v', new Date(NaN))).rejects.toThrow(RangeError);
      await guard.close();
      await expect(guard.spend('nonce', 'v', inSeconds(5))).rejects.toThrow();
    });
  });
};
