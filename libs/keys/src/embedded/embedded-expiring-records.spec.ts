import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedExpiringRecords } from './embedded-expiring-records.js';

describe('EmbeddedExpiringRecords', () => {
  let folder: string;
  let file: string;
  let records: EmbeddedExpiringRecords;
  let now: number;
  const open = () => EmbeddedExpiringRecords.open({ file, clock: () => new Date(now) });
  const inSeconds = (seconds: number) => new Date(now + seconds * 1000);
  const put = (key: string, over: object = {}) =>
    records.put({ kind: 'Session', key, sealed: `sealed ${key}`, expiresAt: inSeconds(60), ...over });

  beforeEach(async () => {
    now = Date.UTC(2030, 0, 1);
    folder = await mkdtemp(join(tmpdir(), 'records-'));
    file = join(folder, 'sign-in.db');
    records = await open();
  });
  afterEach(async () => {
    await records.close();
    await rm(folder, { recursive: true });
  });

  it('keeps what is put, by key and alias and apart by kind, also after a restart', async () => {
    await put('one', { alias: 'uid-one' });
    await put('one', { kind: 'Grant', sealed: 'another' });
    await records.close();
    records = await open();
    expect(await records.get('Session', 'one')).toEqual({ sealed: 'sealed one' });
    expect(await records.getByAlias('Session', 'uid-one')).toEqual({ sealed: 'sealed one' });
    expect(await records.get('Grant', 'one')).toEqual({ sealed: 'another' });
    expect(await records.get('Session', 'uid-one')).toBeUndefined();
    // Where the kind ends cannot be moved.
    expect(await records.get('Sessio', 'none')).toBeUndefined();
    expect(await records.getByAlias('Sessionu', 'id-one')).toBeUndefined();
    expect(await records.getByAlias('Grant', 'uid-one')).toBeUndefined();
    await put('one', { sealed: 'replaced' });
    expect(await records.get('Session', 'one')).toEqual({ sealed: 'replaced' });
    expect(await records.getByAlias('Session', 'uid-one')).toBeUndefined();
  });

  it('ends each to the millisecond, and sweeps what has ended as others come', async () => {
    for (let n = 0; n < 40; n++) await put(`k${n}`);
    now += 59_999;
    expect(await records.get('Session', 'k0')).toBeDefined();
    now += 1;
    expect(await records.get('Session', 'k0')).toBeUndefined();
    expect(await records.spend('Session', 'k0')).toBe(false);
    expect(await records.size()).toBe(40);
    for (let n = 0; n < 3; n++) await put(`new${n}`);
    expect(await records.size()).toBe(3);
  });

  it('is spent by exactly one of many', async () => {
    await put('code');
    const spent = await Promise.all(Array.from({ length: 20 }, () => records.spend('Session', 'code')));
    expect(spent.filter(Boolean)).toHaveLength(1);
    expect(await records.get('Session', 'code')).toEqual({ sealed: 'sealed code', spentAt: now });
    // Written again it is spent still.
    await put('code', { sealed: 'later' });
    expect(await records.get('Session', 'code')).toEqual({ sealed: 'later', spentAt: now });
    expect(await records.spend('Session', 'nobody')).toBe(false);
  });

  it('goes alone or with its group', async () => {
    await put('a', { group: 'g' });
    await put('b', { group: 'g', kind: 'AccessToken' });
    await put('c', { group: 'h' });
    await put('d');
    await records.remove('Session', 'd');
    await records.removeGroup('g');
    expect(await records.get('Session', 'd')).toBeUndefined();
    expect(await records.get('Session', 'a')).toBeUndefined();
    expect(await records.get('AccessToken', 'b')).toBeUndefined();
    expect(await records.get('Session', 'c')).toBeDefined();
  });

  it('counts attempts in a window that begins with the first, over a restart too', async () => {
    const end = new Date(now + 1000);
    expect(await records.attempt('account', 'ada', 1000)).toEqual({ used: 1, endsAt: end });
    now += 500;
    await records.close();
    records = await open();
    expect(await records.attempt('account', 'ada', 1000)).toEqual({ used: 2, endsAt: end });
    expect((await records.attempt('account', 'grace', 1000)).used).toBe(1);
    now += 500;
    expect((await records.attempt('account', 'ada', 1000)).used).toBe(1);
  });

  it('takes back an attempt of the current window, and never more than were counted', async () => {
    await records.attempt('account', 'ada', 1000);
    await records.attempt('account', 'ada', 1000);
    await records.takeBackAttempt('account', 'ada');
    expect((await records.attempt('account', 'ada', 1000)).used).toBe(2);
    for (let n = 0; n < 5; n++) await records.takeBackAttempt('account', 'ada');
    await records.takeBackAttempt('account', 'grace');
    expect((await records.attempt('account', 'ada', 1000)).used).toBe(1);
    expect((await records.attempt('account', 'grace', 1000)).used).toBe(1);
  });

  it('has no bearer value in its file', async () => {
    await put('a-bearer-value', { alias: 'an-alias-value', group: 'a-group-value' });
    await records.attempt('account', 'ada@people.example', 1000);
    await records.close();
    const bytes = readFileSync(file, 'latin1');
    expect(bytes).toContain('sealed a-bearer-value');
    for (const text of ['an-alias-value', 'a-group-value', 'ada@people.example']) expect(bytes).not.toContain(text);
    expect(bytes.split('a-bearer-value')).toHaveLength(2);
    records = await open();
  });
});
