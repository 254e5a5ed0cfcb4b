import type { ProjectionHealth } from '@attestry/read-model';

/** Rows may also be changed by another process: they are read after this time at the latest, milliseconds. */
const LONGEST_MS = 15_000;

interface Followed {
  running: { isLeading: boolean; health: Pick<ProjectionHealth, 'position'> };
}

/**
 * Spares a periodic job its query, which would find what the last one found until the projections of the rows have moved or a row becomes due
 * (ADR 0118).
 */
export class UnchangedRows {
  private known: { positions: string; until: number } | undefined;

  /** @param readModels of the rows */
  constructor(private readonly readModels: readonly Followed[]) {}

  /** Whether a query would find what the last one found. */
  hold(now: Date): boolean {
    if (!this.known || now.getTime() >= this.known.until) return false;
    // Another process may have projected more.
    return this.readModels.every(({ running }) => running.isLeading) && this.known.positions === this.positions();
  }

  /**
   * @param positions from before the query
   * @param nextDue when it would find another row, milliseconds since 1970
   */
  remember(positions: string, now: Date, nextDue = Infinity): void {
    this.known = { positions, until: Math.min(nextDue, now.getTime() + LONGEST_MS) };
  }

  /** Of the projections, as far as this process knows. */
  positions(): string {
    return JSON.stringify(this.readModels.map(({ running }) => running.health.position ?? ''));
  }
}
