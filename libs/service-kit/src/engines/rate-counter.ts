/** Count of a key in its window. */
export interface Counted {
  used: number;
  /** Milliseconds until the window ends. */
  resetsInMs: number;
}

/** Counts per key in windows of one minute, which begin with the first count. Has no limits. A promise only where a server counts. */
export abstract class RateCounter {
  /** @param calls that are counted at once */
  abstract count(key: string, calls?: number): Counted | Promise<Counted>;
  /** Counts nothing. */
  abstract peek(key: string): Counted | Promise<Counted>;
  abstract close(): Promise<void>;
}

export const WINDOW_SECONDS = 60;
const WINDOW_MS = WINDOW_SECONDS * 1000;
/** Ended windows that a new one removes: more than are added, and few enough for one request. */
const MOST_REMOVED = 16;

interface Window {
  used: number;
  /** By the clock of the counter, milliseconds. */
  endsAt: number;
}

/** For this process alone. */
export class MemoryRateCounter extends RateCounter {
  /** In the order of their ends, as all are of one length. */
  private readonly windows = new Map<string, Window>();

  /** @param now milliseconds of a clock that is never set back: windows would last by as much longer, and not be removed */
  constructor(private readonly now: () => number = performance.now.bind(performance)) {
    super();
  }

  count(key: string, calls = 1): Counted {
    const now = this.now();
    let window = this.windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      this.windows.delete(key);
      this.removeEnded(now);
      window = { used: 0, endsAt: now + WINDOW_MS };
      this.windows.set(key, window);
    }
    window.used += calls;
    // A fraction of a millisecond may be rounded up.
    return { used: window.used, resetsInMs: Math.min(WINDOW_MS, window.endsAt - now) };
  }

  peek(key: string): Counted {
    const now = this.now();
    const window = this.windows.get(key);
    if (window === undefined || window.endsAt <= now) return { used: 0, resetsInMs: WINDOW_MS };
    return { used: window.used, resetsInMs: window.endsAt - now };
  }

  /** Windows in memory, ended ones included. */
  get size(): number {
    return this.windows.size;
  }

  async close(): Promise<void> {}

  private removeEnded(now: number): void {
    let left = MOST_REMOVED;
    for (const [key, { endsAt }] of this.windows) {
      if (endsAt > now || left-- === 0) return;
      this.windows.delete(key);
    }
  }
}
