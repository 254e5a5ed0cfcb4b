/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Waits for the work, but not longer.
 * @throws what `late` returns; the work goes on
 */
export const inTime = async <T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> => {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => expired.reject(late()), Math.min(ms, LONGEST_TIMER));
  try {
    return await Promise.race([work, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
};
