/** Count of a key in its window. */
export interface Counted {
  used: number;
  /** Milliseconds until the window ends. */
  resetsInMs: number;
}

/** Counts per key in windows, which begin with the first count. Has no limits. A promise only where a server counts; it does not reject. */
export abstract class RateCounter {
  /** @param seconds of the window, always the same for a key; default: a minute */
  abstract count(key: string, amount?: number, seconds?: number): Counted | Promise<Counted>;
  /** Counts nothing; of a key with windows of one minute. */
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
  /** Windows of a minute, in the order of their ends, as all are of one length. */
  private readonly windows = new Map<string, Window>();
  /** By another length. */
  private readonly others = new Map<number, Map<string, Window>>();

  /** @param now milliseconds of a clock that is never set back: windows would last by as much longer, and not be removed */
  constructor(private readonly now: () => number = performance.now.bind(performance)) {
    super();
  }

  count(key: string, amount = 1, seconds = WINDOW_SECONDS): Counted {
    const now = this.now();
    const length = seconds * 1000;
    const windows = length === WINDOW_MS ? this.windows : this.windowsOf(length);
    let window = windows.get(key);
    if (window === undefined || window.endsAt <= now) {
      windows.delete(key);
      removeEnded(windows, now);
      window = { used: 0, endsAt: now + length };
      windows.set(key, window);
    }
    window.used += amount;
    // A fraction of a millisecond may be rounded up.
    return { used: window.used, resetsInMs: Math.min(length, window.endsAt - now) };
  }

  peek(key: string): Counted {
    const now = this.now();
    const window = this.windows.get(key);
    if (window === undefined || window.endsAt <= now) return { used: 0, resetsInMs: WINDOW_MS };
    return { used: window.used, resetsInMs: window.endsAt - now };
  }

  /** Windows of a minute in memory, ended ones included. */
  get size(): number {
    return this.windows.size;
  }

  async close(): Promise<void> {}

  private windowsOf(length: number): Map<string, Window> {
    let windows = this.others.get(length);
    if (!windows) this.others.set(length, (windows = new Map()));
    return windows;
  }
}

const removeEnded = (windows: Map<string, Window>, now: number): void => {
  let left = MOST_REMOVED;
  for (const [key, { endsAt }] of windows) {
    if (endsAt > now || left-- === 0) return;
    windows.delete(key);
  }
};
