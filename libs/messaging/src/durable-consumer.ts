import {
  backOffMs,
  LeasedWorker,
  sleep,
  type BackOff,
  type BatchSource,
  type LeaseOptions,
  type Term,
} from '@attestry/event-store';
import { feedMessage, type ConsumerFeed, type Delivery, type FeedRecord, type Start } from './consumer-feed.js';
import type { Consumer, ConsumerHealth, ConsumerOptions, FeedMessage } from './message-bus.js';

export type LoopOptions = Omit<ConsumerOptions, 'start'> & { start?: Start };

export interface FeedAccess {
  call<M extends keyof ConsumerFeed>(method: M, ...args: Parameters<ConsumerFeed[M]>): ReturnType<ConsumerFeed[M]>;
  isOpen(): boolean;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The worker of one consumer: fetches a batch, delivers it until it succeeds or the failing message is parked, fetches the next. */
export class DurableConsumer implements Consumer {
  private readonly worker: LeasedWorker<Delivery>;
  private readonly backOff: BackOff;
  /** Error of the last attempt, if it failed. */
  private failure: string | undefined;
  private held = false;
  private handledUpTo: string | undefined;
  /** Acknowledged here, not yet passed on to the feed. */
  private acknowledged: number | undefined;
  private readonly wake = () => {
    if (this.feed.isOpen())
      this.feed.call('wake', this.options.name).catch((error: unknown) => (this.failure = message(error)));
  };

  /** @param lease where processes share the feed */
  constructor(
    private readonly options: LoopOptions,
    private readonly handler: (messages: FeedMessage[]) => Promise<void>,
    private readonly feed: FeedAccess,
    private readonly onClosed: () => void,
    lease?: LeaseOptions,
  ) {
    const { initialDelayMs: firstMs = 100, maxDelayMs: maxMs = 5000 } = options.retry ?? {};
    this.backOff = { firstMs, maxMs };
    this.worker = new LeasedWorker<Delivery>({
      name: options.name,
      lease,
      backOff: this.backOff,
      openSource: (term) => this.openSource(term),
      batch: (delivery, term) => this.deliver(delivery, term),
      // Another process does the work: this one is healthy, whatever failed before.
      standBy: () => (this.failure = undefined),
      onError: () => {
        if (!feed.isOpen()) this.worker.end();
      },
    }).start();
  }

  get health(): ConsumerHealth {
    const { name, healthy, error } = this.worker.health;
    const failure = healthy ? this.failure : error;
    return {
      name,
      healthy: failure === undefined,
      ...(failure !== undefined && { error: failure }),
      acknowledged: this.handledUpTo,
    };
  }

  get isHeld(): boolean {
    return this.held;
  }

  async close(): Promise<void> {
    await this.worker.stop();
    this.onClosed();
  }

  private async openSource({ lease, signal }: Term): Promise<BatchSource<Delivery>> {
    const { name, subjects, batchSize = 256, start = 'first', onHeld } = this.options;
    const epoch: [epoch?: number] = lease ? [lease.epoch] : [];
    const found = await this.feed.call('openConsumer', name, subjects, batchSize, start, ...epoch);
    signal.addEventListener('abort', this.wake);
    const close = async () => {
      signal.removeEventListener('abort', this.wake);
      this.held = false;
      const acknowledged = this.takeAcknowledged();
      if (this.feed.isOpen()) await this.feed.call('leave', name, acknowledged);
    };
    try {
      this.held = true;
      this.handledUpTo = found ? String(found) : undefined;
      await onHeld?.(this.handledUpTo);
    } catch (error) {
      await close();
      throw error;
    }
    this.failure = undefined;
    this.worker.succeeded();
    return { next: async () => (await this.feed.call('next', name, this.takeAcknowledged())) ?? undefined, close };
  }

  private takeAcknowledged(): number | undefined {
    const { acknowledged } = this;
    this.acknowledged = undefined;
    return acknowledged;
  }

  /** @returns milliseconds of pause, so that a few messages are batched */
  private async deliver({ records, replay }: Delivery, term: Term): Promise<number> {
    const { name, retry, restMs = 0, batchSize = 256 } = this.options;
    const maxAttempts = retry?.maxAttempts ?? Infinity;
    for (let attempt = 1; !term.signal.aborted && term.isHeld; attempt++) {
      const error = await this.attempt(records, attempt);
      if (error === undefined) {
        if (replay) await this.feed.call('replayed', name, records[0]![1]);
        this.handled(records.at(-1)!, replay);
        return records.length < batchSize ? restMs : 0;
      }
      if (attempt >= maxAttempts) {
        if (records.length === 1) await this.park(records[0]!, replay, attempt, error);
        else await this.oneByOne(records, attempt + 1, term);
        return 0;
      }
      await sleep(backOffMs(attempt, this.backOff), term.signal);
    }
    return 0;
  }

  private async oneByOne(records: FeedRecord[], attempt: number, term: Term): Promise<void> {
    for (const record of records) {
      if (term.signal.aborted || !term.isHeld) return;
      const error = await this.attempt([record], attempt);
      if (error === undefined) this.handled(record, false);
      else await this.park(record, false, attempt, error);
    }
  }

  /** Calls the handler; returns the error when it failed. Messages are parsed again, so that no attempt sees changes of an earlier one. */
  private async attempt(records: FeedRecord[], attempt: number): Promise<string | undefined> {
    try {
      await this.handler(records.map((record) => feedMessage(record, attempt)));
      return undefined;
    } catch (error) {
      return (this.failure = message(error));
    }
  }

  private handled(record: FeedRecord, replay: boolean): void {
    this.failure = undefined;
    if (replay) return;
    this.acknowledged = record[0];
    this.handledUpTo = String(record[0]);
  }

  private async park(record: FeedRecord, replay: boolean, attempts: number, error: string): Promise<void> {
    await this.feed.call('park', this.options.name, record, attempts, error);
    this.handled(record, replay);
  }
}
