/** @engines embedded */
import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { anEvent, NO_STREAM } from '@attestry/event-store';
import { ERASED } from '@attestry/keys';
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
