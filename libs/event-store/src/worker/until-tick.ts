/**
 * Milliseconds until the next multiple of the interval on the wall clock, or the one after it if that is nearer than `atLeast`. What all processes do at the same
 * moments costs the database one statement per process and one flush.
 */
export const untilTick = (intervalMs: number, atLeast = intervalMs / 4, now = Date.now()): number => {
  const left = intervalMs - (now % intervalMs);
  return left < atLeast ? left + intervalMs : left;
};
