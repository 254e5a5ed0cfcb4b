/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** @throws what `late` returns when the work is not done in time; it goes on then */
export const inTime = async <T>(work: Promise<T>, ms: number, late: () => Error): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(late()), Math.min(ms, LONGEST_TIMER));
  });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clearTimeout(timer);
  }
};
