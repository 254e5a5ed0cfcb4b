/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Waits for the work, at most until the deadline.
 * @throws what `timeoutError` returns; the work continues
 */
export const inTime = <T>(work: Promise<T>, ms: number, timeoutError: () => Error): Promise<T> => {
  // A race would make four more promises; every call of an operation comes here.
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const timer = setTimeout(() => reject(timeoutError()), Math.min(ms, LONGEST_TIMER));
  work.then(
    (value) => {
      clearTimeout(timer);
      resolve(value);
    },
    (error: unknown) => {
      clearTimeout(timer);
      reject(error);
    },
  );
  return promise;
};
