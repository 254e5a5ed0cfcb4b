import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyNotFound, MasterKeyMismatch } from '../vault/key-vault.js';
import { MasterKeys, type MasterKey } from '../stored/master-keys.js';
import { ERASED } from '../vault/sealing.js';
import type { StoredKeyVault } from '../stored/stored-key-vault.js';
import { EmbeddedKeyVault, openKeyFile } from './embedded-key-vault.js';

const T = '0f8fad5b-d9cb-469f-a165-70867728950e';
const master = (version: number, fill = version): MasterKey => ({ version, key: new Uint8Array(32).fill(fill) });

describe('EmbeddedKeyVault', () => {
  let folder: string;
  let file: string;
  let vault: StoredKeyVault | undefined;
  const open = async (current: MasterKey, previous: MasterKey[] = []) =>
    (vault = await EmbeddedKeyVault.openFile({ file, masterKeys: { current, previous } }));
  const close = async () => {
    await vault?.close();
    vault = undefined;
  };
  /** All bytes of the store: file, log and shared memory. */
  const bytes = () =>
    Buffer.concat(['', '-wal', '-shm'].filter((end) => existsSync(file + end)).map((end) => readFileSync(file + end)));
  const column = (sql: string): Uint8Array[] => {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return db
        .prepare(sql)
        .all()
        .map((row) => Object.values(row)[0] as Uint8Array);
    } finally {
      db.close();
    }
  };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'keys-'));
    file = join(folder, 'keys.db');
  });
  afterEach(async () => {
    await close();
    await rm(folder, { recursive: true });
  });

  describe('destruction', () => {
    it('leaves no byte of the sealed keys in the file or its log', async () => {
      const v = await open(master(1));
      // In another order, and in many pages, so that pages split and merge.
      const ids = Array.from({ length: 1500 }, (_, i) =>
        createHash('sha256').update(`${i}`).digest('hex').slice(0, 36),
      );
      await Promise.all(ids.map((id) => v.sealing.createDataKey(T, 'session', id)));
      const signing = await v.signingKeys.createSigningKeys(
        T,
        'did',
        Array.from({ length: 60 }, () => 'P-256' as const),
      );
      await v.sealing.createDataKey(T, 'user', 'kept');
      const doomed = [
        ...column("SELECT sealed FROM data_keys WHERE purpose = 'session'"),
        ...column('SELECT sealed FROM signing_keys'),
      ];
      const [kept] = column("SELECT sealed FROM data_keys WHERE id = 'kept'");
      expect(doomed).toHaveLength(1560);
      const before = bytes();
      expect(doomed.filter((sealed) => !before.includes(sealed.subarray(12, 44)))).toEqual([]);

      ids.sort();
      for (let i = 0; i < ids.length; i += 150) await v.sealing.destroyDataKeys(T, ids.slice(i, i + 150));
      await v.signingKeys.destroySigningKeys(
        T,
        signing.map((key) => key.keyId),
      );

      for (const restart of [false, true]) {
        if (restart) await close();
        const after = bytes();
        // Any 16 consecutive bytes would reveal the key.
        expect(
          doomed.filter((sealed) => [0, 16, 28, 44].some((at) => after.includes(sealed.subarray(at, at + 16)))),
        ).toEqual([]);
        expect(after.includes(kept!)).toBe(true);
      }
    });

    it('leaves no byte of a purged tenant, including its own key', async () => {
      const v = await open(master(1));
      await v.sealing.createDataKey(T, 'user', 'u1');
      await v.signingKeys.createSigningKey(T, 'did', 'Ed25519');
      const doomed = [
        ...column('SELECT wrapped FROM tenant_keys'),
        ...column('SELECT sealed FROM data_keys'),
        ...column('SELECT sealed FROM signing_keys'),
      ];
      expect(doomed.map((key) => bytes().includes(key))).toEqual([true, true, true]);
      await v.destroyTenant(T);
      expect(doomed.map((key) => bytes().includes(key.subarray(16, 48)))).toEqual([false, false, false]);
    });

    it('handles concurrent destructions and rejects none', async () => {
      const v = await open(master(1));
      const ids = Array.from({ length: 100 }, (_, i) => `u${i}`);
      const sealed = ids.map((id) => v.sealing.sealWithNewKey(T, 'user', id, 'text'));
      await Promise.all(sealed.map((s) => s.newKey.store()));
      await Promise.all(ids.map((id) => v.sealing.destroyDataKeys(T, [id])));
      expect(existsSync(`${file}-wal`) ? readFileSync(`${file}-wal`).length : 0).toBe(0);
      for (const s of sealed) expect(await v.sealing.openSealed(T, 'user', s.sealed)).toBe(ERASED);
    });

    it('completes at the next start what a crash interrupted', async () => {
      const v = await open(master(1));
      await v.sealing.createDataKey(T, 'user', 'u1');
      const [doomed] = column('SELECT sealed FROM data_keys');
      // The row is overwritten by another connection, as by a process that died before its scrub; a third keeps the log.
      const dying = new DatabaseSync(file);
      const reader = new DatabaseSync(file);
      dying.exec("PRAGMA secure_delete = ON; UPDATE data_keys SET live = 0, sealed = zeroblob(60) WHERE id = 'u1'");
      reader.prepare('SELECT count(*) FROM data_keys').get();
      await close();
      expect(bytes().includes(doomed!)).toBe(true);
      await open(master(1));
      expect(bytes().includes(doomed!)).toBe(false);
      dying.close();
      reader.close();
    });

    it('is undone by an older copy of the file, whose checkpoint determines where to replay from', async () => {
      let v = await open(master(1));
      const { sealed, newKey } = v.sealing.sealWithNewKey(T, 'user', 'u1', 'text');
      await newKey.store();
      await v.checkpoints.write('erasures', '10', undefined);
      await close();
      await copyFile(file, `${file}.copy`);
      v = await open(master(1));
      await v.sealing.destroyDataKeys(T, ['u1']);
      await v.checkpoints.write('erasures', '20', '10');
      await close();
      await copyFile(`${file}.copy`, file);
      v = await open(master(1));
      expect(await v.checkpoints.read('erasures')).toBe('10');
      expect(await v.sealing.openSealed(T, 'user', sealed)).toBe('text');
      await v.sealing.destroyDataKeys(T, ['u1']);
      expect(await v.sealing.openSealed(T, 'user', sealed)).toBe(ERASED);
    });
  });

  describe('MASTER_KEY', () => {
    const fill = async () => {
      const v = await open(master(1));
      const key = await v.signingKeys.createSigningKey(T, 'did', 'P-256');
      const { sealed, newKey } = v.sealing.sealWithNewKey(T, 'user', 'u1', 'text');
      await newKey.store();
      const mac = v.macs.mac('secret');
      await v.destroyTenant('ended');
      await close();
      return async (again: StoredKeyVault) => {
        expect(await again.sealing.openSealed(T, 'user', sealed)).toBe('text');
        expect((await again.signingKeys.loadSigner(T, key.keyId)).publicJwk).toEqual(key.publicJwk);
        expect(again.macs.verifyMac('secret', mac)).toBe(true);
        await expect(again.sealing.createDataKey('ended', 'user', 'u1')).rejects.toThrow(KeyNotFound);
      };
    };

    it('a new version rewraps tenant keys and peppers at startup; the old one is then unused and its wraps are removed', async () => {
      const check = await fill();
      const wraps = [...column('SELECT wrapped FROM tenant_keys WHERE live'), ...column('SELECT wrapped FROM peppers')];
      expect(wraps).toHaveLength(2);
      await check(await open(master(2), [master(1)]));
      expect(wraps.map((wrap) => bytes().includes(wrap.subarray(16, 48)))).toEqual([false, false]);
      await close();
      await check(await open(master(2)));
      await close();
      await expect(open(master(1))).rejects.toThrow(/needs MASTER_KEY version 2/);
    });

    it.each([
      ['another key of the same version', master(1, 9), []],
      ['a new version without the old', master(2), []],
      ['a new version with a wrong old one', master(2), [master(1, 9)]],
    ])('fails at open for %s, and changes nothing', async (_, current, previous) => {
      const check = await fill();
      await expect(open(current, previous)).rejects.toThrow(MasterKeyMismatch);
      await check(await open(master(1)));
    });

    it.each([
      ['a short key', { version: 1, key: new Uint8Array(31) }, []],
      ['version 0', master(0), []],
      ['a version twice', master(1), [master(1, 5)]],
    ])('refuses %s', async (_, current, previous) => {
      await expect(open(current, previous)).rejects.toThrow(MasterKeyMismatch);
      expect(existsSync(file)).toBe(false);
    });
  });

  it('a new pepper is used for new MACs, older MACs still verify, also after a restart', async () => {
    let v = await open(master(1));
    const old = v.macs.mac('secret');
    await close();
    const store = await openKeyFile(file);
    const pepper = new MasterKeys({ current: master(1) }).wrap('pepper', 'p2', randomBytes(32));
    expect(await store.call('putPepper', pepper)).toHaveLength(2);
    await store.close();
    v = await open(master(1));
    const young = v.macs.mac('secret');
    await close();
    v = await open(master(1));
    expect([old.pepper, young.pepper, v.macs.mac('x').pepper]).toEqual(['p1', 'p2', 'p2']);
    expect(young.mac).not.toBe(old.mac);
    expect(v.macs.verifyMac('secret', old)).toBe(true);
    expect(v.macs.verifyMac('secret', young)).toBe(true);
  });

  it('stores no private key, data key or pepper in plain text', async () => {
    const v = await open(master(1));
    await v.signingKeys.createSigningKeys(T, 'did', ['P-256', 'Ed25519']);
    const { newKey } = v.sealing.sealWithNewKey(T, 'user', 'u1', 'the plain text');
    await newKey.store();
    const store = bytes();
    expect(store.includes('the plain text')).toBe(false);
    expect(store.includes(Buffer.from(master(1).key))).toBe(false);
    expect(store.includes('"d":')).toBe(false);
    expect(store.includes('u1')).toBe(true);
  });

  it('stamps keys by its clock', async () => {
    vault = await EmbeddedKeyVault.openFile({
      file,
      masterKeys: { current: master(1) },
      clock: () => new Date('2030-01-02T03:04:05.678Z'),
    });
    expect((await vault.signingKeys.createSigningKey(T, 'did', 'P-256')).createdAt).toBe('2030-01-02T03:04:05.678Z');
  });

  it('refuses key ids that are empty or contain spaces, and accepts dots', async () => {
    const v = await open(master(1));
    await expect(v.sealing.createDataKey(T, 'user', '')).rejects.toThrow(TypeError);
    expect(() => v.sealing.sealWithNewKey(T, 'user', 'a b', 'text')).toThrow(TypeError);
    const { sealed, newKey } = v.sealing.sealWithNewKey(T, 'user', 'a.b.c', 'text');
    await newKey.store();
    expect(await v.sealing.openSealed(T, 'user', sealed)).toBe('text');
  });
});
