import { setTimeout as pause } from 'node:timers/promises';
import { observeMainThread } from './main-thread.js';
import { Metrics } from './metrics.js';

/** Holds the thread for so much CPU time. */
const compute = (ms: number): void => {
  for (const start = process.threadCpuUsage(); ;) {
    const { user, system } = process.threadCpuUsage(start);
    if (user + system >= ms * 1000) return;
  }
};

const valueOf = (text: string, sample: string): number =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`attestry_main_thread_block_seconds${sample} `))!
      .split(' ')[1],
  );

describe('the main thread', () => {
  it('is observed for the time it was blocked, and only for that', async () => {
    const metrics = new Metrics();
    const end = observeMainThread(metrics.bindHistogram('mainThreadBlock', {}));
    try {
      compute(300);
      await pause(100);
      // Waiting holds nothing, and work in pieces none for long.
      for (let piece = 0; piece < 20; piece++) {
        compute(10);
        await pause(25);
      }
    } finally {
      end();
    }
    const text = await metrics.text();
    expect(valueOf(text, '_count') - valueOf(text, '_bucket{le="0.25"}')).toBe(1);
    expect(valueOf(text, '_sum')).toBeGreaterThan(0.45);
  });

  it('is no longer observed after the observation was stopped', async () => {
    const metrics = new Metrics();
    observeMainThread(metrics.bindHistogram('mainThreadBlock', {}))();
    await pause(60);
    expect(valueOf(await metrics.text(), '_count')).toBe(0);
  });
});
