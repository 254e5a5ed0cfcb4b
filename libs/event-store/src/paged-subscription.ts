import type { EventLog, SubscribeOptions, Subscription, SubscriptionHandler } from './event-store.js';

/** Least time between two reports of positions without events, milliseconds: without it each append would wake every subscriber. */
const HIDDEN_MS = 50;

/**
 * One subscriber of a store whose positions are numbers. It reads page after page until there are no more events, one batch at a time, and
 * sleeps until an append wakes it.
 */
export class PagedSubscription implements Subscription {
  /** Everything up to here is read. */
  private cursor: number;
  /** Everything up to here was handed over or skipped. */
  private reported: number;
  private dirty = true;
  private ended = false;
  private readonly running: Promise<void>;
  /** While it waits for an append. */
  private resume: (() => void) | undefined;
  private hiddenAt = -Infinity;
  private hiddenTimer: NodeJS.Timeout | undefined;

  constructor(
    private readonly store: Pick<EventLog, 'readAll'>,
    private readonly options: Omit<SubscribeOptions, 'after'> & { after: number },
    private readonly handler: SubscriptionHandler,
    private readonly onEnd: () => void,
  ) {
    this.cursor = this.reported = options.after;
    this.running = this.deliver();
  }

  /** Behind `after` and up to `last` there are events of these categories only. */
  appended(categories: readonly string[], after: number, last: number): void {
    const { categories: wanted } = this.options;
    // Directly behind the last read event and of other categories: skipped without reading.
    let isWanted = this.dirty || this.cursor < after || wanted === undefined;
    for (const category of categories) isWanted ||= wanted!.includes(category);
    if (isWanted) {
      this.dirty = true;
      this.resume?.();
      return;
    }
    this.cursor = Math.max(this.cursor, last);
    const waitMs = this.hiddenAt + HIDDEN_MS - performance.now();
    if (waitMs <= 0) this.resume?.();
    else this.hiddenTimer ??= setTimeout(() => this.reportHidden(), waitMs).unref();
  }

  wake(): void {
    this.dirty = true;
    this.resume?.();
  }

  /** Ends with an error. */
  endWithError(error: Error): void {
    if (this.ended) return;
    this.end();
    this.handler.onDropped(error);
  }

  async close(): Promise<void> {
    this.end();
    await this.running;
  }

  private end(): void {
    this.ended = true;
    clearTimeout(this.hiddenTimer);
    this.resume?.();
    this.onEnd();
  }

  private reportHidden(): void {
    this.hiddenTimer = undefined;
    this.resume?.();
  }

  private async deliver(): Promise<void> {
    const { categories, batchSize = 256 } = this.options;
    try {
      while (!this.ended) {
        // Appends of one group commit are reported one after the other: wait until all have arrived.
        await Promise.resolve();
        if (!this.dirty && this.cursor === this.reported) {
          const appended = Promise.withResolvers<void>();
          this.resume = appended.resolve;
          await appended.promise;
          continue;
        }
        if (!this.dirty) {
          this.reported = this.cursor;
          this.hiddenAt = performance.now();
          await this.handler.onEvents([], String(this.reported));
          continue;
        }
        this.dirty = false;
        const page = await this.store.readAll({
          after: this.cursor > 0 ? String(this.cursor) : undefined,
          categories,
          limit: batchSize,
        });
        if (this.ended) return;
        if (!page.atEnd) this.dirty = true;
        const next = page.next === undefined ? this.cursor : Number(page.next);
        if (next === this.reported) continue;
        this.cursor = this.reported = next;
        await this.handler.onEvents(page.events, String(next));
      }
    } catch (error) {
      this.endWithError(error instanceof Error ? error : new Error(String(error)));
    }
  }
}
