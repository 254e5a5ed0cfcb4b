import type { EventLog, Position, RecordedEvent, SubscribeOptions, Subscription } from '../event-store.js';
import type { BatchSource } from './leased-worker.js';

export interface EventBatch {
  /** Empty when the filter hid a long range. */
  events: RecordedEvent[];
  /** The position to store as checkpoint. */
  next: Position;
}

/** The batches of a subscription, one at a time; it ends when `signal` is aborted. */
export class EventBatches implements BatchSource<EventBatch> {
  private readonly subscription: Subscription;
  private arrived: EventBatch | undefined;
  /** End of the last batch. */
  private position: Position | undefined;
  private handled: (() => void) | undefined;
  private dropped: Error | undefined;
  private notify: (() => void) | undefined;
  private readonly end = () => this.notify?.();

  constructor(
    store: EventLog,
    options: SubscribeOptions,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', this.end);
    this.subscription = store.subscribe(options, {
      onEvents: (events, next) => {
        const handled = Promise.withResolvers<void>();
        this.arrived = { events, next };
        this.handled = handled.resolve;
        this.notify?.();
        return handled.promise;
      },
      onDropped: (error) => {
        this.dropped = error;
        this.notify?.();
      },
    });
  }

  /** @param withinMs after which an empty batch at the position of the previous one is returned */
  async next(withinMs?: number): Promise<EventBatch | undefined> {
    this.release();
    let isOver = false;
    const timer =
      withinMs === undefined || this.arrived
        ? undefined
        : setTimeout(() => {
            isOver = true;
            this.notify?.();
          }, withinMs).unref();
    while (!this.arrived && !this.dropped && !this.signal.aborted && !isOver)
      await new Promise<void>((resolve) => (this.notify = resolve));
    clearTimeout(timer);
    if (this.signal.aborted) return undefined;
    if (this.dropped) throw this.dropped;
    const batch = this.arrived ?? { events: [], next: this.position! };
    this.arrived = undefined;
    this.position = batch.next;
    return batch;
  }

  async close(): Promise<void> {
    this.signal.removeEventListener('abort', this.end);
    const closing = this.subscription.close();
    this.release();
    await closing;
  }

  private release(): void {
    this.handled?.();
    this.handled = undefined;
  }
}
