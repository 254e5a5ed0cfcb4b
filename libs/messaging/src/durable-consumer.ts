import { feedMessage, type ConsumerFeed, type FeedRecord, type Start } from './consumer-feed.js';
import type { Consumer, ConsumerHealth, ConsumerOptions, FeedMessage } from './message-bus.js';

export type LoopOptions = Omit<ConsumerOptions, 'start'> & { start?: Start };

export interface FeedAccess {
  call<M extends keyof ConsumerFeed>(method: M, ...args: Parameters<ConsumerFeed[M]>): ReturnType<ConsumerFeed[M]>;
  isOpen(): boolean;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The loop of one consumer: fetch a batch, hand it over until it succeeds or its culprit is parked, fetch the next. */
export class DurableConsumer implements Consumer {
  private state: Omit<ConsumerHealth, 'name'> = { healthy: true };
  private stopping = false;
  private held = false;
  private wakeUp: (() => void) | undefined;
  private readonly finished: Promise<void>;
  /** Acknowledged here, not yet told to the feed. */
  private acknowledged: number | undefined;

  constructor(
    private readonly options: LoopOptions,
    private readonly handler: (messages: FeedMessage[]) => Promise<void>,
    private readonly feed: FeedAccess,
    private readonly onClosed: () => void,
  ) {
    this.finished = this.run();
  }

  get health(): ConsumerHealth {
    return { name: this.options.name, ...this.state };
  }

  get isHeld(): boolean {
    return this.held;
  }

  /** Another process does the work: this one is as well as it can be, whatever failed before. */
  standBy(): void {
    if (!this.state.healthy) this.state = { healthy: true, acknowledged: this.state.acknowledged };
  }

  async close(): Promise<void> {
    if (!this.stopping) {
      this.stopping = true;
      this.wakeUp?.();
      if (this.feed.isOpen()) {
        await this.feed.call('wake', this.options.name).catch((error: unknown) => this.unhealthy(error));
      }
    }
    await this.finished;
    this.onClosed();
  }

  private async run(): Promise<void> {
    for (let failures = 1; !this.stopping && this.feed.isOpen(); failures++) {
      try {
        await this.consume(() => (failures = 0));
      } catch (error) {
        // The feed itself failed, or another bus runs this consumer.
        this.unhealthy(error);
        if (this.feed.isOpen()) await this.backOff(failures);
      }
    }
  }

  private async consume(opened: () => void): Promise<void> {
    const { name, subjects, batchSize = 256, start = 'first', restMs = 0, onHeld } = this.options;
    const found = await this.feed.call('open', name, subjects, batchSize, start);
    try {
      this.held = true;
      const upTo = found ? String(found) : undefined;
      await onHeld?.(upTo);
      opened();
      this.state = { healthy: true, acknowledged: upTo };
      while (!this.stopping) {
        const acknowledged = this.acknowledged;
        this.acknowledged = undefined;
        const delivery = await this.feed.call('next', name, acknowledged);
        if (!delivery) break;
        await this.deliver(delivery.records, delivery.replay);
        if (restMs > 0 && delivery.records.length < batchSize) await this.rest(restMs);
      }
    } finally {
      this.held = false;
      const acknowledged = this.acknowledged;
      this.acknowledged = undefined;
      if (this.feed.isOpen()) await this.feed.call('leave', name, acknowledged);
    }
  }

  private async deliver(records: FeedRecord[], replay: boolean): Promise<void> {
    const { name, retry } = this.options;
    const maxAttempts = retry?.maxAttempts ?? Infinity;
    for (let attempt = 1; !this.stopping; attempt++) {
      const error = await this.attempt(records, attempt);
      if (error === undefined) {
        if (replay) await this.feed.call('replayed', name, records[0]![1]);
        return this.handled(records.at(-1)!, replay);
      }
      if (attempt >= maxAttempts) {
        if (records.length === 1) return this.park(records[0]!, replay, attempt, error);
        return this.oneByOne(records, attempt + 1);
      }
      await this.backOff(attempt);
    }
  }

  private async oneByOne(records: FeedRecord[], attempt: number): Promise<void> {
    for (const record of records) {
      if (this.stopping) return;
      const error = await this.attempt([record], attempt);
      if (error === undefined) this.handled(record, false);
      else await this.park(record, false, attempt, error);
    }
  }

  /** Calls the handler; the reason when it failed. Messages are parsed anew, so that no attempt sees what another changed. */
  private async attempt(records: FeedRecord[], attempt: number): Promise<string | undefined> {
    try {
      await this.handler(records.map((record) => feedMessage(record, attempt)));
      return undefined;
    } catch (error) {
      this.unhealthy(error);
      return message(error);
    }
  }

  private handled(record: FeedRecord, replay: boolean): void {
    if (!replay) this.acknowledged = record[0];
    this.state = { healthy: true, acknowledged: replay ? this.state.acknowledged : String(record[0]) };
  }

  private async park(record: FeedRecord, replay: boolean, attempts: number, error: string): Promise<void> {
    await this.feed.call('park', this.options.name, record, attempts, error);
    this.handled(record, replay);
  }

  private unhealthy(error: unknown): void {
    this.state = { ...this.state, healthy: false, error: message(error) };
  }

  /** Full delay doubles up to the maximum; half of it is jitter. */
  private async backOff(failures: number): Promise<void> {
    if (this.stopping) return;
    const { initialDelayMs = 100, maxDelayMs = 5000 } = this.options.retry ?? {};
    const delay = Math.min(initialDelayMs * 2 ** (failures - 1), maxDelayMs) * (0.5 + Math.random() / 2);
    await this.rest(delay);
  }

  /** Cut short when the consumer closes. */
  private async rest(ms: number): Promise<void> {
    if (this.stopping) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = undefined;
  }
}
