import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedReplayGuard } from './embedded-replay-guard.js';

describe('EmbeddedReplayGuard', () => {
  let folder: string;
  let guard: EmbeddedReplayGuard;
  let now: number;
  const open = () => EmbeddedReplayGuard.openFile({ file: join(folder, 'replay.db'), clock: () => new Date(now) });
  const spendMany = (from: number, count: number, seconds: number) =>
    Promise.all(
      Array.from({ length: count }, (_, i) => guard.spend('nonce', `v${from + i}`, new Date(now + seconds * 1000))),
    );

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
    expect(await guard.spend('nonce', 'long', new Date(now + 60_000))).toBe(true);
    expect(await guard.size()).toBe(1001);
    now += 20_000;
    await spendMany(1000, 600, 10);
    expect(await guard.size()).toBe(601);
    expect(await guard.spend('nonce', 'long', new Date(now + 40_000))).toBe(false);
  });

  it('does not accept pruned values again when the clock is set back, nor after a restart', async () => {
    const until = new Date(now + 10_000);
    expect(await guard.spend('nonce', 'early', until)).toBe(true);
    now += 20_000;
    await spendMany(0, 600, 10);
    expect(await guard.size()).toBe(600);
    now -= 20_000;
    expect(await guard.spend('nonce', 'early', until)).toBe(false);
    await guard.close();
    guard = await open();
    expect(await guard.spend('nonce', 'early', until)).toBe(false);
  });

  it('reads the time of the system unless it is given another', async () => {
    const system = await EmbeddedReplayGuard.openFile({ file: join(folder, 'system.db') });
    expect(await system.spend('nonce', 'past', new Date(Date.now() - 1000))).toBe(false);
    expect(await system.spend('nonce', 'future', new Date(Date.now() + 60_000))).toBe(true);
    await system.close();
  });

  it('stores no value in plain text', async () => {
    await guard.spend('nonce', 'a-very-particular-value', new Date(now + 10_000));
    const bytes = ['', '-wal'].map((end) => readFileSync(join(folder, `replay.db${end}`)));
    expect(Buffer.concat(bytes).includes('a-very-particular-value')).toBe(false);
  });
});
