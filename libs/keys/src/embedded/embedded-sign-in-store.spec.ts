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
