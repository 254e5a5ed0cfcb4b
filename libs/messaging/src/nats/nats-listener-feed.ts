import { AckPolicy, DeliverPolicy, type ConsumerMessages, type JetStreamManager, type JsMsg } from '@nats-io/jetstream';
import { nanos, type NatsConnection } from '@nats-io/transport-node';
import type { ConsumerFeed, FeedRecord } from '../consumer-feed.js';
import { subjectMatcher } from '../in-process/feed.jobs.js';
import { feedRecord } from './feed-record.js';
import type { Names } from './names.js';

export interface NatsListenerFeedOptions {
  manager: JetStreamManager;
  connection: NatsConnection;
  names: Names;
  /** Where it begins: behind this sequence. */
  startAfter: () => Promise<number>;
}

/** A consumer whose listener crashed. */
const INACTIVE_MS = 30_000;
/** A silent server is detected after two of these. */
const HEARTBEAT_MS = 500;

/**
 * The feed of a listener on JetStream: a separate consumer in the server's memory, without acknowledgements. When the connection or a
 * message is lost the session fails, and the next one begins behind the last delivered message.
 */
export class NatsListenerFeed implements ConsumerFeed {
  private queue: FeedRecord[] = [];
  private last: number | undefined;
  private delivered = 0;
  private batchSize = 0;
  private messages: ConsumerMessages | undefined;
  /** Messages for an older one are ignored. */
  private session = 0;
  private failure: Error | undefined;
  private woken = false;
  private waiting: (() => void) | undefined;

  constructor(private readonly options: NatsListenerFeedOptions) {}

  async openConsumer(listener: string, subjects: readonly string[], batchSize: number): Promise<number> {
    const { manager, names, startAfter } = this.options;
    this.last ??= await startAfter();
    const session = ++this.session;
    this.queue = [];
    this.delivered = 0;
    this.failure = undefined;
    this.batchSize = batchSize;
    const name = names.session(listener);
    await manager.consumers.add(names.stream, {
      name,
      filter_subject: names.filter(subjects),
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: this.last + 1,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
    });
    const matches = subjectMatcher(subjects);
    const source = await manager.jetstream().consumers.get(names.stream, name);
    const messages = await source.consume({
      max_messages: 2 * batchSize,
      expires: 10_000,
      idle_heartbeat: HEARTBEAT_MS,
      callback: (message) => {
        if (session === this.session) this.received(message, matches);
      },
    });
    this.messages = messages;
    void this.watch(messages, session);
    return this.last;
  }

  async next(_name: string, _acknowledged: number | undefined): Promise<FeedRecord[] | null> {
    for (;;) {
      if (this.woken) return null;
      if (this.failure) throw this.failure;
      const records = this.queue.splice(0, this.batchSize);
      if (records.length) {
        this.last = records.at(-1)![0];
        return records;
      }
      await new Promise<void>((resolve) => (this.waiting = resolve));
      this.waiting = undefined;
    }
  }

  async wake(): Promise<void> {
    this.woken = true;
    this.waiting?.();
  }

  async leave(): Promise<void> {
    const { messages } = this;
    this.messages = undefined;
    this.session++;
    await messages?.close();
  }

  private received(message: JsMsg, matches: (subject: string) => boolean): void {
    const { deliverySequence } = message.info;
    if (deliverySequence !== this.delivered + 1) return this.fail(new Error('a message was lost in transit'));
    this.delivered = deliverySequence;
    const subject = this.options.names.subjectOf(message.subject);
    if (!matches(subject)) return;
    const record = feedRecord(message, subject);
    if (!record) return;
    this.queue.push(record);
    this.waiting?.();
  }

  /** Until the session ends: checks that the server is still reachable. */
  private async watch(messages: ConsumerMessages, session: number): Promise<void> {
    const fail = (reason: string) => {
      if (session === this.session) this.fail(new Error(reason));
    };
    const lost = async () => {
      for await (const { type } of this.options.connection.status())
        if (session !== this.session) return;
        else if (type === 'disconnect') fail('the connection to NATS was lost');
    };
    const silent = async () => {
      for await (const { type } of messages.status())
        if (type === 'heartbeats_missed' || type === 'consumer_deleted' || type === 'stream_not_found') fail(type);
    };
    void lost();
    void silent();
    const ended = await messages.closed();
    fail(ended instanceof Error ? ended.message : 'the consumer ended');
  }

  private fail(error: Error): void {
    this.failure ??= error;
    this.waiting?.();
  }
}
