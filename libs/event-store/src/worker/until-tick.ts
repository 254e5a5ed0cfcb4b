/**
 * Milliseconds until the next multiple of the interval on the wall clock, of at least a quarter of it. What all processes do at the same moments costs the
 * database one statement per process and one flush.
 */
export const untilTick = (intervalMs: number, now = Date.now()): number => {
  const left = intervalMs - (now % intervalMs);
  return left < intervalMs / 4 ? left + intervalMs : left;
};
