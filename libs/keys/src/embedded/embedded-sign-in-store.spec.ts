import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedSignInStore } from './embedded-sign-in-store.js';

describe('EmbeddedSignInStore', () => {
  let folder: string;
  let file: string;
  let store: EmbeddedSignInStore;
  let now: number;
  const put = (key: string, over: object = {}) =>
    store.records.put({ kind: 'Session', key, sealed: `sealed ${key}`, expiresAt: new Date(now + 60_000), ...over });

  beforeEach(async () => {
    now = Date.UTC(2030, 0, 1);
    folder = await mkdtemp(join(tmpdir(), 'sign-in-'));
    file = join(folder, 'sign-in.db');
    store = await EmbeddedSignInStore.openFile({ file, clock: () => new Date(now) });
  });
  afterEach(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });

  it('deletes expired records when others are stored', async () => {
    for (let n = 0; n < 40; n++) await put(`k${n}`);
    now += 60_000;
    expect(await store.size()).toBe(40);
    for (let n = 0; n < 3; n++) await put(`new${n}`);
    expect(await store.size()).toBe(3);
  });

  it('reads the time of the system unless it is given another', async () => {
    const system = await EmbeddedSignInStore.openFile({ file: join(folder, 'system.db') });
    const record = (key: string, ms: number) =>
      system.records.put({ kind: 'Session', key, sealed: 's', expiresAt: new Date(Date.now() + ms) });
    await record('past', -1000);
    await record('future', 60_000);
    expect(await system.records.get('Session', 'past')).toBeUndefined();
    expect(await system.records.get('Session', 'future')).toEqual({ sealed: 's' });
    await system.close();
  });

  it('finds a record without alias and group under none', async () => {
    await put('k1');
    expect(await store.records.getByAlias('Session', 'undefined')).toBeUndefined();
    await store.records.removeGroup('undefined');
    expect(await store.records.get('Session', 'k1')).toBeDefined();
  });

  it('refuses an invalid date', () => {
    expect(() => put('k', { expiresAt: new Date(NaN) })).toThrow(new RangeError('expiresAt is not a date'));
  });

  it('leaves no byte of a removed record in its file', async () => {
    await put('k1');
    await store.records.remove('Session', 'k1');
    await store.close();
    expect(readFileSync(file, 'latin1')).not.toContain('sealed k1');
    store = await EmbeddedSignInStore.openFile({ file });
  });

  it('has no bearer value in its file', async () => {
    await put('a-bearer-value', { alias: 'an-alias-value', group: 'a-group-value' });
    await store.attempts.count('account', 'ada@people.example', 1000);
    await store.close();
    const bytes = readFileSync(file, 'latin1');
    expect(bytes).toContain('sealed a-bearer-value');
    for (const text of ['an-alias-value', 'a-group-value', 'ada@people.example']) expect(bytes).not.toContain(text);
    expect(bytes.split('a-bearer-value')).toHaveLength(2);
    store = await EmbeddedSignInStore.openFile({ file });
  });
});
