export interface WaitOptions {
  /** Milliseconds; default 60,000: it ends a test that hangs. A bound that a test is about is measured by it. */
  timeoutMs?: number;
  /** Milliseconds between two polls; default 20. */
  intervalMs?: number;
  /** The awaited condition, named in the error when it does not occur. */
  what?: string;
}

/**
 * Polls until the condition returns a truthy value, and returns it. @throws
 * Error at the time limit, with the last error of the condition as its cause
 */
export const waitUntil = async <T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 20, what = 'a condition' }: WaitOptions = {},
): Promise<Exclude<T, undefined | null | false | 0 | ''>> => {
  const end = performance.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const value = await condition();
      if (value) return value as Exclude<T, undefined | null | false | 0 | ''>;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > end) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause });
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
};
