import { LRUCache } from 'lru-cache';

/** Names remembered; a dropped one starts from the least again. */
const REMEMBERED = 10_000;

/**
 * How many attempts may be in flight to each host, or for each tenant. It starts at the least; each quick success allows one more, so that
 * a receiver that keeps up gets as much as it accepts, and any other outcome halves it, so that one that stops responding is soon back at
 * the least. One process holds the lease to send: nothing has to be shared.
 */
export class Allowances {
  private readonly known = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(private readonly range: { least: number; most: number }) {}

  limitOf(name: string): number {
    return this.known.get(name) ?? this.range.least;
  }

  /** @param quick the attempt succeeded quickly */
  adjust(name: string, quick: boolean): void {
    const { least, most } = this.range;
    const now = this.limitOf(name);
    this.known.set(name, quick ? Math.min(most, now + 1) : Math.max(least, Math.floor(now / 2)));
  }
}
