import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyKeys, KeysDiffer } from './copy-keys.js';
import { EmbeddedKeyVault } from '../embedded/embedded-key-vault.js';
import { KeyNotFound, MasterKeyMismatch, PLATFORM, type KeyVault } from '../vault/key-vault.js';
import { openKeyStore, type KeyLocation } from './key-location.js';
import type { MasterKeysGiven } from '../stored/master-keys.js';
import { openPostgresKeyVault } from '../postgres/load-postgres.js';
import { rotateMasterKey } from './rotate-master-key.js';
import { ERASED } from '../vault/sealing.js';

const key = (version: number) => ({ version, key: new Uint8Array(32).fill(version) });
const first: MasterKeysGiven = { current: key(1) };
let folder: string;
let serial = 0;
const opened: KeyVault[] = [];

const inFile = async (): Promise<KeyLocation> => ({ file: join(folder, `keys${++serial}.db`) });
const open = async (place: KeyLocation, masterKeys = first): Promise<KeyVault> => {
  const vault =
    'file' in place
      ? await EmbeddedKeyVault.openFile({ ...place, masterKeys })
      : await openPostgresKeyVault({ ...place, masterKeys, onFailure: () => undefined });
  opened.push(vault);
  return vault;
};
const close = async (vault: KeyVault) => {
  opened.splice(opened.indexOf(vault), 1);
  await vault.close();
};

/** A vault with what a platform puts into it, of which some was destroyed. */
const fill = async (vault: KeyVault) => {
  const [tenantId, ended] = [randomUUID(), randomUUID()];
  const ids = Array.from({ length: 520 }, (_, n) => `u${n}`);
  await Promise.all(ids.map((id) => vault.sealing.createDataKey(tenantId, 'user', id)));
  const sealed = await Promise.all(
    ids.slice(0, 3).map((id, n) => vault.sealing.sealText(tenantId, 'user', id, `text ${n}`)),
  );
  const older = await vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519');
  const newer = await vault.signingKeys.createSigningKey(tenantId, 'did', 'Ed25519');
  const token = await vault.signingKeys.ensureSigningKey(PLATFORM, 'token', 'P-256');
  // More than a page of values has.
  const stored = await Promise.all(
    Array.from(
      { length: 18 },
      async (_, n) => (await vault.sealing.storeText(tenantId, 'session', `v${n}`, `value ${n}`)).stored,
    ),
  );
  await vault.sealing.destroyDataKeys(tenantId, ['u1', 'v1', 'never-made']);
  await vault.sealing.createDataKey(ended, 'session', 's1');
  const lost = await vault.sealing.sealText(ended, 'session', 's1', 'gone');
  await vault.destroyTenant(ended);
  await vault.checkpoints.write('erasures', '500', undefined);
  return { tenantId, ended, sealed, stored, lost, older, newer, token, mac: vault.macs.mac('secret', 'client') };
};
const expectAll = async (vault: KeyVault, made: Awaited<ReturnType<typeof fill>>) => {
  const { tenantId, ended, sealed, stored, lost, older, newer, token, mac } = made;
  const texts = await Promise.all(sealed.map((one) => vault.sealing.openSealed(tenantId, 'user', one)));
  expect(texts).toEqual(['text 0', ERASED, 'text 2']);
  const values = await Promise.all(stored.map((one) => vault.sealing.openStored(tenantId, 'session', one)));
  expect(values).toEqual(stored.map((_, n) => (n === 1 ? ERASED : `value ${n}`)));
  expect(await vault.sealing.openSealed(ended, 'session', lost)).toBe(ERASED);
  await expect(vault.sealing.createDataKey(tenantId, 'user', 'never-made')).rejects.toThrow(KeyNotFound);
  expect((await vault.signingKeys.listSigningKeys(tenantId, 'did')).map(({ keyId }) => keyId)).toEqual([
    older.keyId,
    newer.keyId,
  ]);
  expect((await vault.signingKeys.ensureSigningKey(PLATFORM, 'token', 'P-256')).keyId).toBe(token.keyId);
  expect((await vault.signingKeys.loadSigner(tenantId, newer.keyId)).publicJwk).toEqual(newer.publicJwk);
  expect(vault.macs.verifyMac('secret', mac, 'client')).toBe(true);
};

type Place = [string, () => Promise<KeyLocation>];
const FILE: Place = ['a file', inFile];

/**
 * Keys that are copied from store to store, and wrapped with another master key.
 * @param elsewhere another place than a file: then what concerns it, otherwise what concerns files alone
 */
export const describeMovedKeys = (elsewhere?: Place): void => {
  const places = elsewhere ? [elsewhere] : [FILE];
  const all = elsewhere ? [FILE, elsewhere] : [FILE];
  const ways = all
    .flatMap((from) => all.map((to) => [from[0], to[0], from[1], to[1]] as const))
    .filter(([from, to]) => !elsewhere || from === elsewhere[0] || to === elsewhere[0]);

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-keys-'));
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((vault) => vault.close()));
    await rm(folder, { recursive: true });
  });

  describe('copying keys', () => {
    it.each(ways)(
      'from %s to %s: everything decrypts, destroyed keys remain destroyed, and a repeated copy changes nothing',
      async (...way) => {
        const [source, target] = [await way[2](), await way[3]()];
        const vault = await open(source);
        const made = await fill(vault);
        const copied = await copyKeys(source, target, { masterKeys: first });
        expect(copied).toMatchObject({ present: 0, destroyed: 0, secretsVerify: true });
        expect(copied.added).toBeGreaterThan(520);
        const moved = await open(target);
        await expectAll(moved, made);
        expect(await moved.checkpoints.read('erasures')).toBeUndefined();
        // Destroyed here and there since.
        await vault.sealing.destroyDataKeys(made.tenantId, ['u0', 'v0']);
        await moved.sealing.destroyDataKeys(made.tenantId, ['u2', 'v2']);
        await close(moved);
        expect(await copyKeys(source, target, { masterKeys: first })).toEqual({
          added: 0,
          present: copied.added - 2,
          destroyed: 2,
          secretsVerify: true,
        });
        const again = await open(target);
        for (const sealed of made.sealed)
          expect(await again.sealing.openSealed(made.tenantId, 'user', sealed)).toBe(ERASED);
        for (const [n, stored] of made.stored.entries())
          expect(await again.sealing.openStored(made.tenantId, 'session', stored)).toBe(n < 3 ? ERASED : `value ${n}`);
        const store = await openKeyStore(target);
        try {
          const page = { table: 'sealed_values', limit: 100, tenantId: made.tenantId } as const;
          expect((await store.call('pageOfKeys', page)).rows).toHaveLength(15);
        } finally {
          await store.close();
        }
      },
    );

    if (elsewhere) return;

    it('of one tenant does not change those of others, and reports that secrets do not verify with another pepper', async () => {
      const [source, target] = [await inFile(), await inFile()];
      const [from, to] = [await open(source), await open(target)];
      const [one, other, resident] = [await fill(from), await fill(from), await fill(to)];
      const options = { masterKeys: first, tenantId: one.tenantId };
      await expect(copyKeys(source, target, options)).rejects.toThrow(KeysDiffer);
      await expect(copyKeys(source, target, options)).rejects.toMatchObject({
        name: 'KeysDiffer',
        code: 'KeysDiffer',
        message:
          'the target has a different pepper: it belongs to another platform, or a platform was started there before. ' +
          'Client secrets and codes of open offers would be invalid there; use --new-secrets to copy the keys nevertheless',
      });
      expect(await copyKeys(source, target, { ...options, otherPepper: true })).toMatchObject({ secretsVerify: false });
      const moved = await open(target);
      expect(await moved.sealing.openSealed(one.tenantId, 'user', one.sealed[0]!)).toBe('text 0');
      expect(moved.macs.verifyMac('secret', one.mac, 'client')).toBe(false);
      await expect(moved.sealing.openSealed(other.tenantId, 'user', other.sealed[0]!)).rejects.toThrow(KeyNotFound);
      await expectAll(moved, resident);
    });

    it('refuses another master key, and a tenant that has other keys at the target', async () => {
      const [source, target] = [await inFile(), await inFile()];
      const made = await fill(await open(source));
      const other = { current: { version: 1, key: new Uint8Array(32).fill(9) } };
      await expect(copyKeys(source, target, { masterKeys: other })).rejects.toThrow(MasterKeyMismatch);
      await copyKeys(source, await inFile(), { masterKeys: first });
      const there = await open(target);
      await there.sealing.createDataKey(made.tenantId, 'user', 'x');
      const forced = { masterKeys: first, tenantId: made.tenantId, otherPepper: true };
      await expect(copyKeys(source, target, forced)).rejects.toThrow(/a different key of .* \(tenant_keys/);
    });

    it('rewraps keys that an earlier master key wrapped', async () => {
      const [source, target] = [await inFile(), await inFile()];
      const made = await fill(await open(source));
      await copyKeys(source, target, { masterKeys: { current: key(2), previous: [key(1)] } });
      // The same keys, although they are wrapped differently.
      expect(await copyKeys(source, target, { masterKeys: { current: key(2), previous: [key(1)] } })).toMatchObject({
        added: 0,
        destroyed: 0,
      });
      await expectAll(await open(target, { current: key(2) }), made);
    });

    it('leaves what the current master key wrapped unchanged, and both files closed', async () => {
      const files = [join(folder, 'from.db'), join(folder, 'to.db')] as const;
      const [source, target] = files.map((file) => ({ file }));
      const vault = await open(source!);
      await fill(vault);
      await close(vault);
      await copyKeys(source!, target!, { masterKeys: first });
      const wrapped = async (at: KeyLocation) => {
        const store = await openKeyStore(at);
        const found = await store.call('wrappedKeys');
        await store.close();
        return found;
      };
      const isOpen = () => files.map((file) => existsSync(`${file}-wal`));
      expect(isOpen()).toEqual([false, false]);
      expect(await wrapped(target!)).toEqual(await wrapped(source!));
      const other = { current: { version: 1, key: new Uint8Array(32).fill(9) } };
      await expect(copyKeys(source!, target!, { masterKeys: other })).rejects.toThrow(MasterKeyMismatch);
      expect(isOpen()).toEqual([false, false]);
    });

    it('does not bring to life what was destroyed at the target before it was made at the source', async () => {
      const [source, target] = [await inFile(), await inFile()];
      const from = await open(source);
      const { tenantId } = await fill(from);
      await copyKeys(source, target, { masterKeys: first });
      const to = await open(target);
      await to.sealing.destroyDataKeys(tenantId, ['late']);
      await from.sealing.createDataKey(tenantId, 'user', 'late');
      const sealed = await from.sealing.sealText(tenantId, 'user', 'late', 'text');
      expect(await copyKeys(source, target, { masterKeys: first })).toMatchObject({ added: 0, destroyed: 0 });
      expect(await to.sealing.openSealed(tenantId, 'user', sealed)).toBe(ERASED);
    });
  });

  describe('rotating the master key', () => {
    it.each(places)('in %s: nothing is left under the old one, and all keys decrypt', async (_name, at) => {
      const place = await at();
      const vault = await open(place);
      const made = await fill(vault);
      await close(vault);
      const both = { current: key(2), previous: [key(1)] };
      const all = { tenantKeys: 2, peppers: 1 };
      expect(await rotateMasterKey(place, both)).toEqual({
        version: 2,
        tenantKeys: { rewrapped: all.tenantKeys, all: all.tenantKeys },
        peppers: { rewrapped: all.peppers, all: all.peppers },
      });
      // The store was closed.
      if ('file' in place) expect(existsSync(`${place.file}-wal`)).toBe(false);
      expect(await rotateMasterKey(place, { current: key(2) })).toMatchObject({ tenantKeys: { rewrapped: 0, all: 2 } });
      await expect(open(place)).rejects.toThrow(/needs MASTER_KEY version 2/);
      await expectAll(await open(place, { current: key(2) }), made);
    });

    it.each(places)('in %s: beside running processes that have the new key, without errors', async (_name, at) => {
      const place = await at();
      // Every process learns the key that will come; then one after the other wraps with it.
      const knowing = { current: key(1), next: [key(2)] };
      const [one, two] = [await open(place, knowing), await open(place, knowing)];
      const made = await fill(one);
      const changed = await open(place, { current: key(2), previous: [key(1)] });
      await expectAll(changed, made);
      const [late, newest] = [randomUUID(), randomUUID()];
      await one.sealing.createDataKey(late, 'user', 'u');
      await changed.sealing.createDataKey(newest, 'user', 'u');
      for (const vault of [one, two, changed])
        for (const tenantId of [late, newest])
          expect(
            await vault.sealing.openSealed(
              tenantId,
              'user',
              await vault.sealing.sealText(tenantId, 'user', 'u', 'text'),
            ),
          ).toBe('text');
      // A process of the old setting that starts meanwhile turns nothing back.
      await expectAll(await open(place, knowing), made);
      await close(one);
      await close(two);
      const rotated = await rotateMasterKey(place, { current: key(2), previous: [key(1)] });
      expect(rotated).toMatchObject({ tenantKeys: { rewrapped: 1, all: 4 }, peppers: { rewrapped: 0, all: 1 } });
      await expectAll(await open(place, { current: key(2) }), made);
    });

    if (elsewhere) return;

    it('refuses a key that does not match, and a version earlier than the current one', async () => {
      const place = await inFile();
      await fill(await open(place));
      const wrong = { current: key(2), previous: [{ version: 1, key: new Uint8Array(32).fill(9) }] };
      await expect(rotateMasterKey(place, wrong)).rejects.toThrow(MasterKeyMismatch);
      await expect(rotateMasterKey(place, { current: key(2) })).rejects.toThrow(/needs MASTER_KEY version 1/);
      await rotateMasterKey(place, { current: key(2), previous: [key(1)] });
      await expect(rotateMasterKey(place, { current: key(1), next: [key(2)] })).rejects.toThrow(
        'are wrapped with another version of MASTER_KEY than 1',
      );
    });
  });
};
