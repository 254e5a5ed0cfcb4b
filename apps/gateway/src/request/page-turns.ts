import { Injectable } from '@nestjs/common';

/** Most lists of one tenant that services read at once for this process. */
const PAGES_AT_ONCE = 4;

interface Turns {
  held: number;
  /** In the order of their arrival. */
  waiting: (() => void)[];
}

/**
 * Turns of calls that list: a page has up to 512 KB, which are read, opened and serialized on the thread that serves all tenants. Without
 * turns the parts of all pages of a tenant would take their turn there with each request of another tenant, and all be in memory at once
 * (ADR 0098).
 */
@Injectable()
export class PageTurns {
  private readonly turns = new Map<string, Turns>();

  /**
   * Waits for a turn. The number of those who wait is limited by the calls in flight.
   * @param key of the tenant, or of the caller of the management API
   * @returns ends the turn; to be called once
   */
  async enter(key: string): Promise<() => void> {
    let turns = this.turns.get(key);
    if (!turns) this.turns.set(key, (turns = { held: 0, waiting: [] }));
    const { waiting } = turns;
    if (turns.held < PAGES_AT_ONCE) turns.held++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return () => this.leave(key, turns);
  }

  private leave(key: string, turns: Turns): void {
    const next = turns.waiting.shift();
    // The turn is handed over.
    if (next) return next();
    turns.held--;
    if (turns.held === 0) this.turns.delete(key);
  }
}
