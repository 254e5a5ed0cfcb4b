import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Count of a key in its window. */
export interface Counted {
  used: number;
  /** Milliseconds until the window ends. */
  resetsInMs: number;
}

/** Counts per key in windows of one minute, which begin with the first count. Has no limits. */
export abstract class RateCounter {
  abstract count(key: string): Promise<Counted>;
  /** Counts nothing. */
  abstract peek(key: string): Promise<Counted>;
  abstract close(): Promise<void>;
}

export const WINDOW_SECONDS = 60;
/** The library counts; limits differ by class and tenant, so callers compare. */
export const UNLIMITED = Number.MAX_SAFE_INTEGER;

interface Limiter {
  consume(key: string, points: number): Promise<{ consumedPoints: number; msBeforeNext: number }>;
  get(key: string): Promise<{ consumedPoints: number; msBeforeNext: number } | null>;
}

/** For this process alone, unless another limiter is given. */
export class MemoryRateCounter extends RateCounter {
  constructor(
    private readonly limiter: Limiter = new RateLimiterMemory({ points: UNLIMITED, duration: WINDOW_SECONDS }),
  ) {
    super();
  }

  async count(key: string): Promise<Counted> {
    const { consumedPoints, msBeforeNext } = await this.limiter.consume(key, 1);
    return { used: consumedPoints, resetsInMs: msBeforeNext };
  }

  async peek(key: string): Promise<Counted> {
    const found = await this.limiter.get(key);
    return { used: found?.consumedPoints ?? 0, resetsInMs: found?.msBeforeNext ?? WINDOW_SECONDS * 1000 };
  }

  async close(): Promise<void> {}
}
