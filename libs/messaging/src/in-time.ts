/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Waits for the work, at most until the deadline.
 * @throws what `late` returns; the work continues
 */
export const inTime = async <T>(work: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(timeoutError()), Math.min(ms, LONGEST_TIMER));
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
};
