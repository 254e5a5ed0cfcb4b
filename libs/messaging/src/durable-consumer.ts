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
  feed: ConsumerFeed | Promise<ConsumerFeed>;
  isOpen(): boolean;
  onClosed(): void;
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
  private readonly wake = async () => {
    try {
      if (this.access.isOpen()) await (await this.access.feed).wake(this.options.name);
    } catch (error) {
      this.failure = message(error);
    }
  };

  /** @param lease where processes share the feed */
  constructor(
    private readonly options: LoopOptions,
    private readonly handler: (messages: FeedMessage[]) => Promise<void>,
    private readonly access: FeedAccess,
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
        if (!access.isOpen()) this.worker.requestStop();
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
    this.access.onClosed();
  }

  private async openSource({ lease, signal }: Term): Promise<BatchSource<FeedRecord[]>> {
    const { name, subjects, batchSize = 256, start = 'first', onHeld } = this.options;
    // A feed of this process is called at once: a new consumer gets what is published after `consume` returned.
    const feed = this.access.feed instanceof Promise ? await this.access.feed : this.access.feed;
    const found = await feed.openConsumer(name, subjects, batchSize, start, lease?.epoch);
    signal.addEventListener('abort', this.wake);
    const close = async () => {
      signal.removeEventListener('abort', this.wake);
      this.held = false;
      const acknowledged = this.takeAcknowledged();
      if (this.access.isOpen()) await feed.leave(name, acknowledged);
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
    return { next: async () => (await feed.next(name, this.takeAcknowledged())) ?? undefined, close };
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

  /** Calls the handler; returns whether it resolved. Messages are parsed again, so that changes by an earlier attempt have no effect. */
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
