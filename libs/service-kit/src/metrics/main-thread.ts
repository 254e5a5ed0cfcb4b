import type { Observe } from './histogram.js';

/** Shorter blocks are not detected; 50 wake-ups a second have no measurable cost. */
const TICK_MS = 20;
const MICROSECONDS = 1_000_000;

/**
 * Observes the CPU time of the calling thread between two ticks of a timer. While the thread yields, a tick follows the other
 * within {@link TICK_MS}; what takes longer ran without letting anything else in (ADR 0041). CPU time, not elapsed time: a
 * process that waits for its turn on a busy machine blocks no other request.
 *
 * @returns ends the observation
 */
export const observeMainThread = (observe: Observe): (() => void) => {
  let before = process.threadCpuUsage();
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    observe((now.user - before.user + now.system - before.system) / MICROSECONDS);
    before = now;
  }, TICK_MS).unref();
  return () => clearInterval(timer);
};
