import type { ClientReadableStream } from '@grpc/grpc-js';
import type { ReadResp } from '@eventstore/db-client/generated/streams_pb.js';
import type { RecordedEvent, Subscription, SubscriptionHandler } from '../event-store.js';
import { EventStoreUnavailable } from '../event-store.js';
import { isTooSlow, unavailable, type EventStoreDbConnection } from './eventstoredb-connection.js';
import { comparePositions, latest, toText, type LogPosition } from './log-position.js';
import { recordOf, subscriptionRequest, type LogRecord } from './messages.js';
import type { StreamNames } from './stream-names.js';

/** A message of the server: an event, or only its position. */
interface Received {
  position: LogPosition;
  event?: RecordedEvent;
}

export interface SubscriptionSource {
  connection: EventStoreDbConnection;
  /** Position of the log's last record. */
  head(): Promise<LogPosition | undefined>;
  /** The first record at or after a position. */
  firstFrom(position: LogPosition): Promise<LogRecord | undefined>;
  names: StreamNames;
}

export interface EventStoreDbSubscriptionOptions {
  after: LogPosition | undefined;
  /** Absent: every category. */
  categories: readonly string[] | undefined;
  batchSize: number;
}

const categoryOf = (stream: string): string => stream.slice(0, stream.indexOf('-'));

/** Resumptions without an event in between after which a subscription counts as dropped. */
const MOST_RESUMES = 10;

/**
 * One subscriber, fed by a filtered subscription on `$all`. While its handler works, some batches are buffered here; behind them the server
 * waits, and after 32 more events it drops the subscriber. Then the buffer is handled and the subscription resumed behind it. Other faults
 * end it.
 */
export class EventStoreDbSubscription implements Subscription {
  /** How often the server dropped it because it could not keep up. */
  drops = 0;
  private readonly queue: Received[] = [];
  /** Everything up to here is in the queue or handed over. */
  private taken: LogPosition | undefined;
  /** Everything up to here was handed over or skipped. */
  private reported: LogPosition | undefined;
  private call: ClientReadableStream<ReadResp> | undefined;
  private fault: Error | undefined;
  private resumes = 0;
  private ended = false;
  private awake: (() => void) | undefined;
  private readonly running: Promise<void>;

  constructor(
    private readonly source: SubscriptionSource,
    private readonly options: EventStoreDbSubscriptionOptions,
    private readonly handler: SubscriptionHandler,
    private readonly onEnd: () => void,
  ) {
    this.taken = this.reported = options.after;
    this.running = this.deliverAll();
  }

  async close(): Promise<void> {
    this.end();
    await this.running;
  }

  private end(): void {
    this.ended = true;
    this.call?.cancel();
    this.awake?.();
    this.onEnd();
  }

  private async deliverAll(): Promise<void> {
    try {
      while (!this.ended) {
        await this.subscribe();
        await this.deliver();
      }
    } catch (error) {
      if (this.ended) return;
      this.end();
      this.handler.onDropped(error instanceof Error ? error : new Error(String(error)));
    }
  }

  private async subscribe(): Promise<void> {
    const { source } = this;
    const { categories } = this.options;
    this.call = this.fault = undefined;
    // Before the subscription begins: when the server reports that it caught up, everything up to here has been sent.
    const head = await source.head();
    const after = await this.anchor();
    if (this.ended) return;
    const call = await source.connection.call((client, metadata, options) =>
      client.read(subscriptionRequest(source.names.ofCategories(categories), after), metadata, options),
    );
    this.call = call;
    const failed = (error: Error) => {
      source.connection.ended(call);
      // A failed call ends too, maybe when the next one has begun.
      if (this.call !== call) return;
      this.fault ??= error;
      this.awake?.();
    };
    call.on('data', (response: ReadResp) => {
      if (this.call !== call) return;
      const checkpoint = response.getCheckpoint();
      if (response.hasEvent()) this.enqueue(recordOf(response, source.names)!);
      else if (checkpoint)
        this.enqueue({
          position: {
            commit: BigInt(checkpoint.getCommitPosition()),
            prepare: BigInt(checkpoint.getPreparePosition()),
          },
        });
      else if (response.hasCaughtUp() && head) this.enqueue({ position: head });
      if (this.queue.length >= this.most) call.pause();
    });
    call.on('error', failed);
    call.on('end', () => failed(new EventStoreUnavailable('event store: the server ended a subscription')));
    if (this.ended) call.cancel();
  }

  /**
   * The server starts behind the first record it finds at a position, also when that is not the record the position was taken from, which a
   * scavenge may have removed. So the record it will find is read here.
   */
  private async anchor(): Promise<LogPosition | undefined> {
    if (!this.taken) return undefined;
    const first = await this.source.firstFrom(this.taken);
    if (!first || comparePositions(first.position, this.taken) === 0) return this.taken;
    const { categories } = this.options;
    if (first.stream !== undefined && (!categories || categories.includes(categoryOf(first.stream))))
      this.enqueue(first);
    return first.position;
  }

  private enqueue({ position, event }: Received): void {
    if (this.taken && comparePositions(position, this.taken) <= 0) return;
    this.taken = position;
    const last = this.queue.at(-1);
    if (!event && last && !last.event) last.position = position;
    else this.queue.push({ position, event });
    this.awake?.();
  }

  /** Hands over until the call failed and the buffer is empty. */
  private async deliver(): Promise<void> {
    while (!this.ended) {
      if (this.queue.length > 0) {
        await this.handOver();
        continue;
      }
      if (this.fault) {
        if (!isTooSlow(this.fault) || ++this.resumes > MOST_RESUMES) throw unavailable(this.fault);
        this.drops++;
        return;
      }
      await new Promise<void>((resolve) => (this.awake = resolve));
      // Events that arrived in the same turn belong into the same batch.
      await new Promise(setImmediate);
    }
  }

  private async handOver(): Promise<void> {
    const events: RecordedEvent[] = [];
    let next = this.reported;
    let count = 0;
    for (const { position, event } of this.queue) {
      if (event && events.length === this.options.batchSize) break;
      if (event) events.push(event);
      next = latest(next, position);
      count++;
    }
    this.queue.splice(0, count);
    if (this.queue.length < this.most) this.call?.resume();
    if (events.length > 0) this.resumes = 0;
    this.reported = next;
    await this.handler.onEvents(events, toText(next!));
  }

  private get most(): number {
    return Math.max(2 * this.options.batchSize, 64);
  }
}
