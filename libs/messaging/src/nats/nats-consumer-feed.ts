import {
  AckPolicy,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type ConsumerInfo,
  type JetStreamManager,
  type JsMsg,
} from '@nats-io/jetstream';
import type { KV } from '@nats-io/kv';
import { nanos } from '@nats-io/transport-node';
import type { ConsumerFeed, FeedRecord, Start } from '../consumer-feed.js';
import { subjectMatcher } from '../in-process/feed.jobs.js';
import { feedRecord } from './feed-record.js';
import type { Names } from './names.js';

export interface NatsConsumerFeedOptions {
  manager: JetStreamManager;
  /** Bucket of the consumer's owner: leases and sessions. */
  bucket: KV;
  names: Names;
  /** Where a new consumer starts: behind this sequence. */
  startAfter: () => Promise<number>;
}

/** One term of holding a consumer. */
interface Session {
  matches: (subject: string) => boolean;
  batchSize: number;
  /** Received, not yet delivered. */
  queue: JsMsg[];
  /** Delivered or skipped, not yet acknowledged. */
  unacknowledged: JsMsg[];
  /** Sequence in the feed of the last delivered message. */
  handed: number;
  /** Sequence within the JetStream consumer of the newest message received. */
  delivered: number;
  failure: Error | undefined;
  woken: boolean;
  waiting: (() => void) | undefined;
  /** Clean-up at its end, last first. */
  end: (() => Promise<void>)[];
}

/**
 * Longer than any handler may take: a redelivery within a session is never wanted, a new session starts behind the acknowledged messages.
 */
const ACK_WAIT_MS = 3_600_000;
/** A JetStream consumer whose session ended without deleting it. */
const INACTIVE_MS = 7 * 86_400_000;

/**
 * The feed of one durable consumer on JetStream. Each session, of which a lease allows only one, reads through a JetStream
 * consumer of its own that begins behind what its predecessor acknowledged: that keeps the order over a change of
 * holders, and late acknowledgements of a former holder find its consumer deleted.
 */
export class NatsConsumerFeed implements ConsumerFeed {
  private session: Session | undefined;

  constructor(
    private readonly name: string,
    private readonly options: NatsConsumerFeedOptions,
  ) {}

  async openConsumer(
    _name: string,
    subjects: readonly string[],
    batchSize: number,
    _start: Start,
    epoch: number,
  ): Promise<number> {
    const { manager, names } = this.options;
    const session: Session = {
      matches: subjectMatcher(subjects),
      batchSize,
      queue: [],
      unacknowledged: [],
      handed: 0,
      delivered: 0,
      failure: undefined,
      woken: false,
      waiting: undefined,
      end: [],
    };
    const lose = (error: Error) => {
      session.failure ??= error;
      session.waiting?.();
    };
    try {
      const { consumer, acknowledged } = await this.takeOver(epoch, subjects, batchSize);
      // Replied only after all acknowledgements before it, which were sent the same way.
      session.end.push(async () => void (await manager.consumers.info(names.stream, consumer)));
      const source = await manager.jetstream().consumers.get(names.stream, consumer);
      const messages = await source.consume({
        max_messages: 2 * batchSize,
        expires: 10_000,
        idle_heartbeat: 1000,
        callback: (message) => this.received(session, message),
      });
      session.end.push(async () => void (await messages.close()));
      void messages.closed().then((error) => lose(error instanceof Error ? error : new Error('the consumer ended')));
      this.session = session;
      return acknowledged;
    } catch (error) {
      await this.end(session);
      throw error;
    }
  }

  async next(_name: string, acknowledged: number | undefined): Promise<FeedRecord[] | null> {
    const session = this.held();
    this.acknowledge(session, acknowledged);
    for (;;) {
      if (session.woken) return null;
      if (session.failure) throw session.failure;
      const records = this.takeBatch(session);
      if (records.length) return records;
      await new Promise<void>((resolve) => (session.waiting = resolve));
      session.waiting = undefined;
    }
  }

  async wake(): Promise<void> {
    if (!this.session) return;
    this.session.woken = true;
    this.session.waiting?.();
  }

  async leave(_name: string, acknowledged: number | undefined): Promise<void> {
    const { session } = this;
    if (!session) return;
    this.session = undefined;
    this.acknowledge(session, acknowledged);
    await this.end(session);
  }

  private async end(session: Session): Promise<void> {
    // Each of them, whatever the outcome of the others.
    const failures: unknown[] = [];
    for (const step of session.end.reverse()) await step().catch((error: unknown) => failures.push(error));
    if (failures.length) throw new Error(`consumer ${this.name} did not end in order`, { cause: failures[0] });
  }

  private held(): Session {
    if (!this.session) throw new Error(`consumer ${this.name} is not open`);
    return this.session;
  }

  /** A JetStream consumer for this epoch, behind what its newest predecessor acknowledged; all predecessors are deleted. */
  private async takeOver(
    epoch: number,
    subjects: readonly string[],
    batchSize: number,
  ): Promise<{ consumer: string; acknowledged: number }> {
    const { manager, names, bucket } = this.options;
    const key = names.sessionsKey(this.name);
    const entry = await bucket.get(key);
    const before = entry ? entry.json<string[]>() : [];
    const found = await Promise.all(before.map((name) => this.find(name)));
    const newest = found.findLast((info) => info !== undefined);
    const acknowledged = newest ? acknowledgedBy(newest) : await this.options.startAfter();
    const { last_seq: head } = (await manager.streams.info(names.stream)).state;
    // JetStream would skip messages that get the sequences in between.
    if (acknowledged > head)
      throw new Error(
        `consumer ${this.name} acknowledged ${acknowledged}, beyond the newest message of ${names.stream}, ${head}: ` +
          `the stream is older than the consumer. Delete its JetStream consumer ${newest?.name} to start again`,
      );
    const consumer = names.session(this.name, epoch);
    // Recorded first: an unrecorded one is never found again. Fails here if another process has taken over.
    const noted = JSON.stringify([...before, consumer]);
    const revision = await (entry ? bucket.update(key, noted, entry.revision) : bucket.create(key, noted));
    await manager.consumers.add(names.stream, {
      durable_name: consumer,
      filter_subject: names.filter(subjects),
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: 4 * batchSize,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: acknowledged + 1,
      inactive_threshold: nanos(INACTIVE_MS),
    });
    for (const info of found) if (info) await manager.consumers.delete(names.stream, info.name);
    if (before.length) await bucket.update(key, JSON.stringify([consumer]), revision);
    return { consumer, acknowledged };
  }

  private async find(consumer: string): Promise<ConsumerInfo | undefined> {
    try {
      return await this.options.manager.consumers.info(this.options.names.stream, consumer);
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.ConsumerNotFound) return undefined;
      throw error;
    }
  }

  private received(session: Session, message: JsMsg): void {
    const { deliverySequence } = message.info;
    if (deliverySequence !== session.delivered + 1)
      session.failure ??= new Error(`${this.name}: a message was lost in transit`);
    session.delivered = deliverySequence;
    session.queue.push(message);
    session.waiting?.();
  }

  /** Up to a batch of the received messages; those of other subjects that the filter matched are skipped. */
  private takeBatch(session: Session): FeedRecord[] {
    const records: FeedRecord[] = [];
    const { queue, batchSize, matches } = session;
    let taken = 0;
    for (; taken < queue.length && records.length < batchSize; taken++) {
      const message = queue[taken]!;
      const subject = this.options.names.subjectOf(message.subject);
      const record = matches(subject) ? feedRecord(message, subject) : undefined;
      if (record) records.push(record);
    }
    session.unacknowledged.push(...queue.splice(0, taken));
    const last = records.at(-1);
    if (last) session.handed = last[0];
    else if (taken) this.acknowledge(session, session.handed);
    return records;
  }

  /** Up to and including a sequence; skipped messages behind the last delivered one are acknowledged with it. */
  private acknowledge({ unacknowledged, handed }: Session, sequence: number | undefined): void {
    if (sequence === undefined) return;
    let count = 0;
    while (count < unacknowledged.length && (sequence >= handed || unacknowledged[count]!.seq <= sequence))
      unacknowledged[count++]!.ack();
    unacknowledged.splice(0, count);
  }
}

/** Nothing acknowledged yet: it is at its start. */
const acknowledgedBy = ({ ack_floor, config }: ConsumerInfo): number =>
  Math.max(ack_floor.stream_seq, (config.opt_start_seq ?? 1) - 1);
