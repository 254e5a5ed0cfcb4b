import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { EmbeddedReplayGuard } from './embedded-replay-guard.js';

describe('EmbeddedReplayGuard', () => {
  let folder: string;
  let guard: EmbeddedReplayGuard;
  let now: number;
  const open = () => EmbeddedReplayGuard.openFile({ file: join(folder, 'replay.db'), clock: () => new Date(now) });
  const spend = (value: string, expiresAt: Date, by = guard) =>
    by.spendAll('t1', [{ scope: 'nonce', value, expiresAt }]);
  const spendMany = (from: number, count: number, seconds: number) =>
    Promise.all(Array.from({ length: count }, (_, i) => spend(`v${from + i}`, new Date(now + seconds * 1000))));

  beforeEach(async () => {
    now = Date.UTC(2030, 0, 1);
    folder = await mkdtemp(join(tmpdir(), 'replay-'));
    guard = await open();
  });
  afterEach(async () => {
    await guard.close();
    await rm(folder, { recursive: true });
  });

  it('prunes expired values as new ones arrive, and only those', async () => {
    await spendMany(0, 1000, 10);
    expect(await spend('long', new Date(now + 60_000))).toBe(true);
    expect(await guard.size()).toBe(1001);
    now += 20_000;
    await spendMany(1000, 600, 10);
    expect(await guard.size()).toBe(601);
    expect(await spend('long', new Date(now + 40_000))).toBe(false);
  });

  it('does not accept pruned values again when the clock is set back, nor after a restart', async () => {
    const until = new Date(now + 10_000);
    expect(await spend('early', until)).toBe(true);
    now += 20_000;
    await spendMany(0, 600, 10);
    expect(await guard.size()).toBe(600);
    now -= 20_000;
    expect(await spend('early', until)).toBe(false);
    await guard.close();
    guard = await open();
    expect(await spend('early', until)).toBe(false);
  });

  it('reads the time of the system unless it is given another', async () => {
    const system = await EmbeddedReplayGuard.openFile({ file: join(folder, 'system.db') });
    expect(await spend('past', new Date(Date.now() - 1000), system)).toBe(false);
    expect(await spend('future', new Date(Date.now() + 60_000), system)).toBe(true);
    await system.close();
  });

  it('finds the values that a release spent whose scopes contained the tenant', async () => {
    await guard.close();
    const db = new DatabaseSync(join(folder, 'replay.db'));
    const digest = createHash('sha256').update('10:c_nonce:t1abc').digest().subarray(0, 16);
    db.prepare('INSERT INTO spent (digest, expires_at) VALUES (?, ?)').run(digest, now + 10_000);
    db.close();
    guard = await open();
    const spent = { scope: 'c_nonce', value: 'abc', expiresAt: new Date(now + 10_000) };
    expect(await guard.spendAll('t1', [spent])).toBe(false);
    expect(await guard.spendAll('t2', [spent])).toBe(true);
  });

  it('stores no value in plain text', async () => {
    await spend('a-very-particular-value', new Date(now + 10_000));
    const bytes = ['', '-wal'].map((end) => readFileSync(join(folder, `replay.db${end}`)));
    expect(Buffer.concat(bytes).includes('a-very-particular-value')).toBe(false);
  });
});
