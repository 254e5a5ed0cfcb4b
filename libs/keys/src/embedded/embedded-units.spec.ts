import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  anEvent,
  EmbeddedEventStore,
  EVENT_PRAGMAS,
  NO_STREAM,
  type StreamAppend,
  type UnitWrite,
} from '@attestry/event-store';
import { SqliteThread } from '@attestry/sqlite';
import { KeyAlreadyExists, KeyNotFound, ReplayGuard, type SingleUseValue } from '../vault/key-vault.js';
import type { StoredKeyVault } from '../stored/stored-key-vault.js';
import { EmbeddedKeyVault, KEY_PRAGMAS } from './embedded-key-vault.js';
import { EmbeddedReplayGuard } from './embedded-replay-guard.js';

const T = 't1';
const TEXT = 'the plain text';
const streams = ['credential-t1+a', 'session-t1+a'] as const;
const masterKeys = { current: { version: 1, key: new Uint8Array(32).fill(7) } };

let folder: string;
let now: number;
let events: EmbeddedEventStore;
let vault: StoredKeyVault;
let guard: EmbeddedReplayGuard;
let thread: SqliteThread;
let close: () => Promise<void>;

const open = async (): Promise<void> => {
  thread = await SqliteThread.spawn({
    file: join(folder, 'events.db'),
    ...EmbeddedEventStore.jobs(true),
    further: [EmbeddedKeyVault.jobs, EmbeddedReplayGuard.jobs],
    pragmas: [...EVENT_PRAGMAS, ...KEY_PRAGMAS],
  });
  events = EmbeddedEventStore.onThread(thread, { file: join(folder, 'events.db'), exclusive: true });
  vault = await EmbeddedKeyVault.onThread(thread, { masterKeys });
  guard = EmbeddedReplayGuard.onThread(thread, () => new Date(now));
  close = async () => {
    await guard.close();
    await vault.close();
    await events.close();
    await thread.close();
  };
};
beforeEach(async () => {
  now = Date.UTC(2030, 0, 1);
  folder = await mkdtemp(join(tmpdir(), 'attestry-units-'));
  await open();
});
afterEach(async () => {
  await close();
  await rm(folder, { recursive: true });
});

const appendTo = (stream: string, expected = NO_STREAM): StreamAppend => ({ stream, events: [anEvent()], expected });
const nonce = (value: string): SingleUseValue => ({ scope: 'nonce', value, expiresAt: new Date(now + 60_000) });
const spent = () => new Error('spent');
const isUnspent = (value: string) => guard.spendAll(T, [nonce(value)]);
const stored = async () => Promise.all(streams.map(async (name) => (await events.readStream(name)).length));
const newKey = (keyId: string) => vault.sealing.sealWithNewKey(T, 'session', keyId, TEXT);

describe('a unit of work in the file of the events', () => {
  const unit = (keyId: string, value: string, expected = NO_STREAM) => {
    const { sealed, newKey: key } = newKey(keyId);
    const spending = guard.spending(T, [nonce(value)], spent);
    const writes = [spending, key];
    const appends = [appendTo(streams[0]), appendTo(streams[1], expected)] as const;
    return { sealed, key, spending, commit: () => events.commit({ writes, appends: [...appends] }) };
  };

  it('stores keys, single-use values and events', async () => {
    const { sealed, key, spending, commit } = unit('s1', 'n1');
    expect(key.isStored).toBe(false);
    await commit();
    expect(key.isStored).toBe(true);
    expect(await stored()).toEqual([1, 1]);
    expect(await isUnspent('n1')).toBe(false);
    expect(await vault.sealing.openSealed(T, 'session', sealed)).toBe(TEXT);
    // Stored with the events: nothing is left to store.
    await key.store();
    await spending.store();
    await close();
    await open();
    expect(await vault.sealing.openSealed(T, 'session', sealed)).toBe(TEXT);
    expect(await isUnspent('n1')).toBe(false);
  });

  it.each<[string, () => Promise<unknown>, Error | object]>([
    ['a spent value', () => guard.spendAll(T, [nonce('n1')]), spent()],
    ['an existing key', () => vault.sealing.createDataKey(T, 'session', 's1'), new KeyAlreadyExists('s1')],
    ['a destroyed key', () => vault.sealing.destroyDataKeys(T, ['s1']), new KeyNotFound('s1')],
    ['a conflict', () => events.append(streams[1], [anEvent()], NO_STREAM), { name: 'WrongExpectedRevision' }],
  ])('is refused as a whole for %s', async (what, before, refusal) => {
    await before();
    const had = await stored();
    const { sealed, key, commit } = unit('s1', 'n1');
    await expect(commit()).rejects.toMatchObject(refusal);
    expect(key.isStored).toBe(false);
    expect(await stored()).toEqual(had);
    if (what !== 'a spent value') expect(await isUnspent('n1')).toBe(true);
    if (what === 'a spent value' || what === 'a conflict')
      await expect(vault.sealing.openSealed(T, 'session', sealed)).rejects.toThrow(KeyNotFound);
  });

  it('stores the value of a key with it, or neither', async () => {
    const { stored: named, newKey: key } = vault.sealing.storeWithNewKey(T, 'session', 's1', TEXT);
    await events.append(streams[1], [anEvent()], NO_STREAM);
    const attempt = (expected: number) => events.commit({ writes: [key], appends: [appendTo(streams[1], expected)] });
    await expect(attempt(NO_STREAM)).rejects.toMatchObject({ name: 'WrongExpectedRevision' });
    await expect(vault.sealing.openStored(T, 'session', named)).rejects.toThrow(KeyNotFound);
    await attempt(0);
    for (const restart of [false, true]) {
      if (restart) {
        await close();
        await open();
      }
      expect(await vault.sealing.openStored(T, 'session', named)).toBe(TEXT);
    }
  });

  it('is stored by a second attempt after a conflict', async () => {
    const { newKey: key, sealed } = newKey('s1');
    const writes = [guard.spending(T, [nonce('n1')], spent), key];
    await events.append(streams[1], [anEvent()], NO_STREAM);
    const first = appendTo(streams[0]);
    const attempt = (expected: number) => events.commit({ writes, appends: [first, appendTo(streams[1], expected)] });
    await expect(attempt(NO_STREAM)).rejects.toMatchObject({ name: 'WrongExpectedRevision' });
    await attempt(0);
    expect(await stored()).toEqual([1, 2]);
    expect(await isUnspent('n1')).toBe(false);
    expect(await vault.sealing.openSealed(T, 'session', sealed)).toBe(TEXT);
  });

  it('has the first result when it is repeated', async () => {
    const { commit } = unit('s1', 'n1');
    const first = await commit();
    expect(await commit()).toEqual(first);
    expect(await stored()).toEqual([1, 1]);
  });

  it('names the key that was refused among several', async () => {
    await vault.sealing.createDataKey(T, 'session', 's2');
    const writes = ['s1', 's2', 's3'].map((id) => newKey(id).newKey);
    const commit = events.commit({ writes, appends: [appendTo(streams[0])] });
    await expect(commit).rejects.toEqual(new KeyAlreadyExists('s2'));
    await vault.sealing.createDataKey(T, 'session', 's1');
  });

  it.each<[string, () => SingleUseValue[]]>([
    ['has expired', () => [{ ...nonce('n1'), expiresAt: new Date(now) }]],
    ['is given twice', () => [nonce('n1'), nonce('n1')]],
  ])('is refused, with its keys, for a value that %s', async (_what, values) => {
    const { sealed, newKey: key } = newKey('s1');
    const writes = [key, guard.spending(T, values(), spent)];
    await expect(events.commit({ writes, appends: [appendTo(streams[0])] })).rejects.toEqual(spent());
    expect(await stored()).toEqual([0, 0]);
    await expect(vault.sealing.openSealed(T, 'session', sealed)).rejects.toThrow(KeyNotFound);
  });

  it('reports an error that is not a refusal as it is, and can be tried again', async () => {
    const { sealed, newKey: key } = newKey('s1');
    const spending = guard.spending(T, [nonce('n1')], spent);
    const failing = {
      kind: 'key' as const,
      isStored: false,
      store: () => Promise.reject(new Error('no space left')),
      partOf: async () => undefined,
    };
    const commit = (...writes: UnitWrite[]) => events.commit({ writes, appends: [appendTo(streams[0])] });
    await expect(commit(key, spending, failing)).rejects.toEqual(new Error('no space left'));
    expect(key.isStored).toBe(false);
    expect(await stored()).toEqual([0, 0]);
    await expect(vault.sealing.openSealed(T, 'session', sealed)).rejects.toThrow(KeyNotFound);
    await commit(key, spending);
    expect(key.isStored).toBe(true);
    expect(await isUnspent('n1')).toBe(false);
  });

  it('needs the guard no longer when that is closed', async () => {
    await guard.close();
    await events.commit({ writes: [newKey('s1').newKey], appends: [appendTo(streams[0])] });
    expect(await stored()).toEqual([1, 0]);
  });

  it('is refused when its tenant has ended', async () => {
    await vault.sealing.createDataKey(T, 'user', 'u1');
    await vault.destroyTenant(T);
    const { newKey: key } = newKey('s1');
    await expect(events.commit({ writes: [key], appends: [appendTo(streams[0])] })).rejects.toThrow(KeyNotFound);
    expect(await stored()).toEqual([0, 0]);
    expect(key.isStored).toBe(false);
    await expect(vault.sealing.sealText(T, 'session', 's1', TEXT)).rejects.toThrow(KeyNotFound);
  });

  it('explains only the refusals of its own parts', async () => {
    const { newKey: key } = newKey('s1');
    for (const write of [key, guard.spending(T, [nonce('n1')], spent)]) {
      const part = await write.partOf(thread);
      expect(part!.refused(new Error('no space left'))).toBeUndefined();
    }
  });
});

describe('the writes of a unit on another engine', () => {
  const other = {};

  it('are no part of its transaction; each is stored by itself, once', async () => {
    const { sealed, newKey: key } = newKey('s1');
    const spending = guard.spending(T, [nonce('n1')], spent);
    expect([key.kind, spending.kind]).toEqual(['key', 'single-use']);
    expect([await key.partOf(other), await spending.partOf(other)]).toEqual([undefined, undefined]);
    expect(key.isStored).toBe(false);
    for (const write of [key, spending, key, spending]) await write.store();
    expect(key.isStored).toBe(true);
    expect(await vault.sealing.openSealed(T, 'session', sealed)).toBe(TEXT);
    expect(await isUnspent('n1')).toBe(false);
    // Stored already: the transaction of this engine has no part of it.
    expect(await events.commit({ writes: [key, spending], appends: [appendTo(streams[0])] })).toMatchObject({
      revision: 0,
    });
  });

  it('a spent value is refused', async () => {
    await guard.spendAll(T, [nonce('n1')]);
    await expect(guard.spending(T, [nonce('n1')], spent).store()).rejects.toEqual(spent());
  });
});

describe('a guard whose values are no part of a transaction', () => {
  class CountingGuard extends ReplayGuard {
    calls: unknown[] = [];
    constructor(private readonly answer: boolean) {
      super();
    }
    async spendAll(...args: Parameters<ReplayGuard['spendAll']>): Promise<boolean> {
      this.calls.push(args);
      return this.answer;
    }
    async close(): Promise<void> {}
  }

  it('spends them once, however often the unit is repeated', async () => {
    const counting = new CountingGuard(true);
    const spending = counting.spending(T, [nonce('n1')], spent);
    expect(spending.kind).toBe('single-use');
    expect(await spending.partOf({})).toBeUndefined();
    await spending.store();
    await spending.store();
    expect(counting.calls).toEqual([[T, [nonce('n1')]]]);
  });

  it('refuses the unit when one is spent', async () => {
    const spending = new CountingGuard(false).spending(T, [nonce('n1')], spent);
    await expect(spending.store()).rejects.toEqual(spent());
  });
});
