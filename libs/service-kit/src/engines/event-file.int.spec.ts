/** @engines embedded */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anEvent, NO_STREAM } from '@attestry/event-store';
import { EmbeddedKeyVault, EmbeddedReplayGuard, ERASED, type SingleUseValue } from '@attestry/keys';
import { isKeyRecoverable, remainingKeys, waitUntil } from '@attestry/testing';
import { parseConfig } from '../config/config.js';
import type { Engines } from './engines.js';
import { openEngines } from './open-engines.js';

const T = 't1';
const KEY = Buffer.alloc(32, 7);
const TEXT = 'the plain text';

let folder: string;
let engines: Engines;
const opened: { close(): Promise<void> }[] = [];
const open = async (): Promise<Engines> => {
  const env = {
    LOG_LEVEL: 'silent',
    DATA_DIR: folder,
    MASTER_KEY: KEY.toString('base64url'),
    MANAGEMENT_CLIENT_ID: 'ops',
    MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
    BASE_DOMAIN: 'localhost:1',
  };
  engines = await openEngines(parseConfig(env));
  opened.push(engines);
  return engines;
};
const close = async (): Promise<void> => {
  for (const one of opened.splice(0).reverse()) await one.close();
};
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-event-file-'));
});
afterEach(async () => {
  await close();
  await rm(folder, { recursive: true });
});

const nonce = (value: string): SingleUseValue => ({ scope: 'nonce', value, expiresAt: new Date(Date.now() + 60_000) });

describe('the keys in the file of the events', () => {
  /** Users' keys that a copy of the folder still contains. */
  const recoverable = async (ids: readonly string[]): Promise<string[]> => {
    const copy = await mkdtemp(join(tmpdir(), 'attestry-event-file-copy-'));
    try {
      for (const name of (await readdir(folder)).filter((one) => one.startsWith('events.db')))
        await cp(join(folder, name), join(copy, name));
      const bytes = await mkdtemp(join(copy, 'bytes-'));
      for (const name of (await readdir(copy)).filter((one) => one.startsWith('events.db')))
        await cp(join(copy, name), join(bytes, name));
      const keys = remainingKeys(copy, KEY.toString('base64url'));
      const found: string[] = [];
      for (const id of ids) if (await isKeyRecoverable(bytes, keys, { tenant: T, purpose: 'user', id })) found.push(id);
      return found;
    } finally {
      await rm(copy, { recursive: true });
    }
  };

  it('are gone from file and log after their destruction, while events are appended', async () => {
    await open();
    const { sealing } = engines.vault;
    let working = true;
    const work = (async () => {
      for (let n = 0; working; n++) await engines.events.append(`other-t1+${n}`, [anEvent()], NO_STREAM);
    })();
    const ids = Array.from({ length: 20 }, (_, n) => `u${n}`);
    await Promise.all(ids.map((id) => sealing.createDataKey(T, 'user', id)));
    await sealing.destroyDataKeys(T, ids.slice(1));
    working = false;
    await work;
    expect(await recoverable(ids)).toEqual(['u0']);
  });

  it('are destroyed without waiting for a reader of the file, and removed from its log when it has ended', async () => {
    await open();
    const { sealing } = engines.vault;
    await sealing.createDataKey(T, 'user', 'u1');
    const sealed = await sealing.sealText(T, 'user', 'u1', TEXT);
    const reader = new DatabaseSync(join(folder, 'events.db'), { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM events').get();
    const since = performance.now();
    await sealing.destroyDataKeys(T, ['u1']);
    expect(performance.now() - since).toBeLessThan(2000);
    expect(await sealing.openSealed(T, 'user', sealed)).toBe(ERASED);
    await engines.events.append('other-t1+1', [anEvent()], NO_STREAM);
    expect(await recoverable(['u1'])).toEqual(['u1']);
    reader.close();
    await waitUntil(async () => (await recoverable(['u1'])).length === 0, { timeoutMs: 8000, intervalMs: 200 });
  });
});

describe('the files of an earlier release', () => {
  const masterKeys = { current: { version: 1, key: new Uint8Array(KEY) } };
  const names = async () => (await readdir(folder)).filter((name) => /^(keys|replay)\.db/.test(name));
  const sealed: Record<string, string> = {};
  let keyId: string;

  /** With two users, a destroyed one, a signing key, expiring state, a position and a spent value. */
  const writeFormer = async () => {
    const file = join(folder, 'keys.db');
    const vault = await EmbeddedKeyVault.openFile({ file, masterKeys });
    for (const id of ['kept', 'later', 'gone']) {
      await vault.sealing.createDataKey(T, 'user', id);
      sealed[id] = await vault.sealing.sealText(T, 'user', id, TEXT);
    }
    ({ keyId } = await vault.signingKeys.createSigningKey(T, 'did', 'Ed25519'));
    await vault.expiringState.write(T, 'state', TEXT, { expiresAt: Date.now() + 60_000 });
    await vault.checkpoints.write('reader', '7', undefined);
    await vault.sealing.destroyDataKeys(T, ['gone']);
    await vault.close();
    const db = new DatabaseSync(file);
    db.exec('ALTER TABLE key_checkpoints RENAME TO checkpoints');
    db.close();
    const guard = await EmbeddedReplayGuard.openFile({ file: join(folder, 'replay.db') });
    await guard.spendAll(T, [nonce('n1')]);
    await guard.close();
  };
  const expectAll = async (later: unknown = TEXT) => {
    const { sealing, signingKeys, expiringState, checkpoints } = engines.vault;
    const opening = ['kept', 'later', 'gone'].map((id) => sealing.openSealed(T, 'user', sealed[id]!));
    expect(await Promise.all(opening)).toEqual([TEXT, later, ERASED]);
    expect((await signingKeys.loadSigner(T, keyId)).keyId).toBe(keyId);
    expect(await expiringState.read(T, 'state')).toMatchObject({ text: TEXT });
    expect(await checkpoints.read('reader')).toBe('7');
    expect(await engines.replayGuard.spendAll(T, [nonce('n1')])).toBe(false);
    expect(await names()).toEqual([]);
  };

  it('are moved into the file of the events when the platform starts, and their sealed keys are overwritten', async () => {
    await writeFormer();
    await open();
    await expectAll();
    await close();
    await open();
    await expectAll();
  });

  it.each(['the rows were stored', 'the keys were overwritten'])(
    'are removed by the next start after a crash when %s; a key that was destroyed meanwhile stays destroyed',
    async (when) => {
      await writeFormer();
      const former = await mkdtemp(join(tmpdir(), 'attestry-former-'));
      for (const name of await names()) await cp(join(folder, name), join(former, name));
      await open();
      await engines.vault.sealing.destroyDataKeys(T, ['later']);
      await close();
      for (const name of await readdir(former)) await cp(join(former, name), join(folder, name));
      await rm(former, { recursive: true });
      if (when === 'the keys were overwritten') {
        const db = new DatabaseSync(join(folder, 'keys.db'));
        for (const table of ['data_keys', 'signing_keys']) db.exec(`UPDATE ${table} SET sealed = zeroblob(60)`);
        for (const table of ['tenant_keys', 'peppers']) db.exec(`UPDATE ${table} SET wrapped = zeroblob(64)`);
        db.close();
      }
      await open();
      await expectAll(ERASED);
    },
  );

  it('stay while another process reads them, and the start fails', async () => {
    await writeFormer();
    const reader = new DatabaseSync(join(folder, 'keys.db'), { readOnly: true });
    reader.exec('BEGIN');
    reader.prepare('SELECT count(*) FROM data_keys').get();
    await expect(open()).rejects.toThrow(/locked|in use/);
    expect(await names()).toContain('keys.db');
    reader.close();
    await close();
    await open();
    await expectAll();
  }, 60_000);

  it('are not moved over those of the upgrade, when an earlier release made others since', async () => {
    await writeFormer();
    await open();
    await close();
    await writeFormer();
    await expect(open()).rejects.toThrow('has keys that an earlier release made after the upgrade');
    expect(await names()).toContain('keys.db');
  });

  it('that have no tables yet are removed', async () => {
    for (const name of ['keys.db', 'replay.db']) new DatabaseSync(join(folder, name)).close();
    await open();
    expect(await names()).toEqual([]);
  });
});
