import {
  backOffMs,
  LeasedWorker,
  sleep,
  type BackOff,
  type BatchSource,
  type LeaseOptions,
  type Term,
} from '@attestry/event-store';
import { feedMessage, type ConsumerFeed, type FeedRecord, type Start } from './consumer-feed.js';
import type { Consumer, ConsumerHealth, ConsumerOptions, FeedMessage } from './message-bus.js';

export type LoopOptions = Omit<ConsumerOptions, 'start'> & { start?: Start };

export interface FeedAccess {
  call<M extends keyof ConsumerFeed>(method: M, ...args: Parameters<ConsumerFeed[M]>): ReturnType<ConsumerFeed[M]>;
  isOpen(): boolean;
}

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The worker of one consumer: fetches a batch, delivers it until it succeeds, fetches the next. */
export class DurableConsumer implements Consumer {
  private readonly worker: LeasedWorker<FeedRecord[]>;
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
    this.worker = new LeasedWorker<FeedRecord[]>({
      name: options.name,
      lease,
      backOff: this.backOff,
      openSource: (term) => this.openSource(term),
      batch: (records, term) => this.deliver(records, term),
      // Another process does the work: this one is healthy, whatever failed before.
      standBy: () => (this.failure = undefined),
      onError: () => {
        if (!feed.isOpen()) this.worker.requestStop();
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

  private async openSource({ lease, signal }: Term): Promise<BatchSource<FeedRecord[]>> {
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
    this.worker.recordSuccess();
    return { next: async () => (await this.feed.call('next', name, this.takeAcknowledged())) ?? undefined, close };
  }

  private takeAcknowledged(): number | undefined {
    const { acknowledged } = this;
    this.acknowledged = undefined;
    return acknowledged;
  }

  /** @returns milliseconds of pause, so that a few messages are batched */
  private async deliver(records: FeedRecord[], term: Term): Promise<number> {
    const { restMs = 0, batchSize = 256 } = this.options;
    for (let attempt = 1; !term.signal.aborted && term.isHeld; attempt++) {
      if (await this.attempt(records, attempt)) return records.length < batchSize ? restMs : 0;
      await sleep(backOffMs(attempt, this.backOff), term.signal);
    }
    return 0;
  }

  /** Calls the handler; returns whether it resolved. Messages are parsed again, so that no attempt sees changes of an earlier one. */
  private async attempt(records: FeedRecord[], attempt: number): Promise<boolean> {
    try {
      await this.handler(records.map((record) => feedMessage(record, attempt)));
    } catch (error) {
      this.failure = message(error);
      return false;
    }
    this.failure = undefined;
    [this.acknowledged] = records.at(-1)!;
    this.handledUpTo = String(this.acknowledged);
    return true;
  }
}
