/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Waits for the work, at most until the deadline.
 * @throws what `timeoutError` returns; the work continues
 */
export const inTime = async <T>(work: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> => {
  const expired = Promise.withResolvers<never>();
  const timer = setTimeout(() => expired.reject(timeoutError()), Math.min(ms, LONGEST_TIMER));
  try {
    return await Promise.race([work, expired.promise]);
  } finally {
    clearTimeout(timer);
  }
};
