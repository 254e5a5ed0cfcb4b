/** Rows may also be changed otherwise: they are read after this time at the latest, milliseconds. */
const LONGEST_MS = 15_000;

interface Followed {
  running: { progress(): Promise<string | undefined> };
}

/**
 * Spares a periodic job its query, which would find what the last one found until the projections of the rows have moved or a row becomes due
 * (ADR 0118).
 */
export class UnchangedRows {
  private known: { progress: string; until: number } | undefined;

  /** @param readModels of the rows */
  constructor(private readonly readModels: readonly Followed[]) {}

  /**
   * Queries, unless that would find what the last query found.
   * @param query resolves with when it would find another row, milliseconds since 1970; with `undefined` while it finds rows
   */
  async queryOnceChanged(now: Date, query: () => Promise<number | undefined>): Promise<void> {
    // Before the query: what is projected meanwhile may be missing in it.
    const progress = JSON.stringify(await Promise.all(this.readModels.map(({ running }) => running.progress())));
    if (this.known?.progress === progress && now.getTime() < this.known.until) return;
    this.known = undefined;
    const nextDue = await query();
    if (nextDue !== undefined) this.known = { progress, until: Math.min(nextDue, now.getTime() + LONGEST_MS) };
  }
}
