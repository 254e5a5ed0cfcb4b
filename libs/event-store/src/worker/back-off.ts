export interface BackOff {
  /** Longest wait before the first retry, milliseconds; doubles with each further one. */
  firstMs: number;
  /** Longest wait before any retry, milliseconds. */
  maxMs: number;
}

export const DEFAULT_BACK_OFF: BackOff = { firstMs: 100, maxMs: 5000 };

/**
 * Milliseconds before a retry. Half of it is random, so that processes that failed together do not retry together.
 * @param failures in a row, from 1
 */
export const backOffMs = (failures: number, { firstMs, maxMs } = DEFAULT_BACK_OFF, random = Math.random): number =>
  Math.min(maxMs, firstMs * 2 ** (failures - 1)) * (0.5 + random() / 2);
