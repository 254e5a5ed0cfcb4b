import { randomUUID } from 'node:crypto';
import type { LeaseOptions } from '@attestry/event-store';
import {
  jetstream,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
} from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import {
  errors,
  headers as natsHeaders,
  type Msg,
  type NatsConnection,
  type Subscription,
} from '@nats-io/transport-node';
import type { ConsumerFeed, Envelope } from '../consumer-feed.js';
import { DurableConsumer, type LoopOptions } from '../durable-consumer.js';
import {
  INTERNAL_ERROR,
  MessageBus,
  UNNAMED_CALLER,
  RequestFailed,
  type Consumer,
  type ConsumerOptions,
  type FeedMessage,
  type ListenerOptions,
  type OnError,
  type OutgoingMessage,
  type Reply,
  type RequestHandler,
  type RequestOptions,
  type Serving,
  type Subject,
} from '../message-bus.js';
import { connectNats, type NatsOptions } from './connect-nats.js';
import { DEFAULT_NAMESPACE, Names, ownerOf } from './names.js';
import { NatsConsumerFeed } from './nats-consumer-feed.js';
import { NatsLeases } from './nats-leases.js';
import { NatsListenerFeed } from './nats-listener-feed.js';

export interface NatsBusOptions extends NatsOptions {
  onError: OnError;
  /** Owner of the consumers of this process, as they were migrated: opening fails when one was not. */
  owners?: readonly string[];
  /** Milliseconds since the epoch; deadlines are set and checked by it. */
  now?: () => number;
  /** How long a consumer's holder may be silent before another process takes over, milliseconds. Default 6,000. */
  leaseMs?: number;
  /** How long a publish may take, milliseconds. Default 5,000. */
  publishTimeoutMs?: number;
}

class NatsServing implements Serving {
  private running = 0;
  private idle: (() => void) | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    private readonly subscription: Subscription,
    private readonly onClosed: () => void,
  ) {}

  begin(): void {
    this.running++;
  }

  end(): void {
    if (--this.running === 0) this.idle?.();
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      // Resolves when the server routes no more requests here and everything it routed before has begun.
      if (!this.subscription.isClosed()) await this.subscription.drain();
      if (this.running) await new Promise<void>((resolve) => (this.idle = resolve));
      this.onClosed();
    })();
    return this.closing;
  }
}

/** The server lacks what the bus needs. */
export class NotMigrated extends Error {
  override readonly name = 'NotMigrated';
}

/**
 * The message bus on a NATS server: requests over queue groups, the durable feed over JetStream. `migrateNats` has created stream and
 * buckets before.
 */
export class NatsBus extends MessageBus {
  private readonly servings = new Set<NatsServing>();
  private readonly consumers = new Set<DurableConsumer>();
  private readonly feedCalls = new Set<Promise<unknown>>();
  /** Start sequences of consumers that begin with new messages; nothing is published before they are known. */
  private readonly starts = new Set<Promise<number>>();
  private readonly buckets = new Map<string, Promise<KV>>();
  private readonly now: () => number;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly names: Names,
    private readonly stream: JetStreamClient,
    private readonly manager: JetStreamManager,
    private readonly options: NatsBusOptions,
  ) {
    super();
    this.now = options.now ?? Date.now;
  }

  /** @throws NotMigrated */
  static async connect(options: NatsBusOptions): Promise<NatsBus> {
    const names = new Names(options.namespace ?? DEFAULT_NAMESPACE);
    const onWaiting = (reason: string) => options.onError('nats', new Error(`waiting for a server: ${reason}`));
    const connection = await connectNats({ onWaiting, ...options });
    void reportErrors(connection, options.onError);
    try {
      // The account's state must not be readable for services.
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const buckets = (options.owners ?? []).map((owner) => `KV_${names.bucket(owner)}`);
      for (const stream of [names.stream, ...buckets]) await mustExist(manager, stream);
      return new NatsBus(connection, names, jetstream(connection, { checkAPI: false }), manager, options);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    if (this.closing) throw new RequestFailed('closed', subject);
    const subscription = this.connection.subscribe(this.names.serving(subject), {
      queue: this.names.queue,
      callback: (error, message) => {
        if (error) this.options.onError(subject, error);
        else void this.answer(serving, subject, handler, message);
      },
    });
    const serving: NatsServing = new NatsServing(subscription, () => this.servings.delete(serving));
    this.servings.add(serving);
    return serving;
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    const started = this.now();
    const inherited = Number(options.headers?.['deadline'] ?? Infinity);
    const deadline = Math.min(started + options.timeoutMs, Number.isNaN(inherited) ? Infinity : inherited);
    const envelope: Envelope = { h: { ...options.headers, deadline: String(deadline) }, d: data };
    const body = JSON.stringify(envelope);
    if (this.connection.isClosed()) throw new RequestFailed('closed', subject);
    if (deadline <= started) throw new RequestFailed('timeout', subject);
    try {
      const answer = await this.connection.request(this.names.request(options.from ?? UNNAMED_CALLER, subject), body, {
        timeout: deadline - started,
        headers: deadlineHeader(deadline),
      });
      return answer.json<Reply<T>>();
    } catch (error) {
      throw failed(error, subject);
    }
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (!messages.length) return;
    const bodies = messages.map(({ headers, data }) =>
      JSON.stringify({ h: headers ?? {}, d: data } satisfies Envelope),
    );
    await this.feed('publish', async () => {
      await Promise.allSettled(this.starts);
      const timeout = this.options.publishTimeoutMs ?? 5000;
      // One connection keeps the order; a retry repeats ids, which are stored once.
      await Promise.all(
        messages.map(({ id, subject }, at) =>
          this.stream.publish(this.names.event(subject), bodies[at]!, { msgID: id, timeout, retries: 0 }),
        ),
      );
    });
  }

  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    if (this.closing) throw new RequestFailed('closed', options.name);
    const startAfter = options.start === 'new' ? this.startAfterNewest() : async () => 0;
    const bucketOf = () => this.bucketOf(options.name);
    const feed = bucketOf().then(
      (bucket) =>
        new NatsConsumerFeed(options.name, {
          manager: this.manager,
          bucket,
          names: this.names,
          startAfter,
        }),
    );
    const { leaseMs = 6000 } = this.options;
    return this.startConsumer(options, handler, feed, {
      leases: new NatsLeases(bucketOf, (name) => this.names.leaseKey(name)),
      holder: randomUUID(),
      leaseMs,
      pollMs: Math.min(250, leaseMs / 8),
    });
  }

  listen({ name, subjects }: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    if (this.closing) throw new RequestFailed('closed', name);
    const feed = new NatsListenerFeed({
      manager: this.manager,
      connection: this.connection,
      names: this.names,
      startAfter: this.startAfterNewest(),
    });
    // Listeners should resume soon after a reconnect.
    const retry = { initialDelayMs: 100, maxDelayMs: 1000 };
    return this.startConsumer({ name, subjects, start: 'listener', retry }, handler, feed);
  }

  private startConsumer(
    options: LoopOptions,
    handler: (messages: FeedMessage[]) => Promise<void>,
    feed: ConsumerFeed | Promise<ConsumerFeed>,
    lease?: LeaseOptions,
  ): DurableConsumer {
    const consumer: DurableConsumer = new DurableConsumer(
      options,
      handler,
      {
        call: (async <M extends keyof ConsumerFeed>(method: M, ...args: Parameters<ConsumerFeed[M]>) => {
          const opened = await feed;
          return (opened[method] as (...all: Parameters<ConsumerFeed[M]>) => unknown).apply(opened, args);
        }) as CallFeed,
        isOpen: () => !this.connection.isClosed(),
      },
      () => this.consumers.delete(consumer),
      lease,
    );
    this.consumers.add(consumer);
    return consumer;
  }

  async head(): Promise<string | undefined> {
    const newest = await this.feed('head', () => this.newest());
    return newest ? String(newest) : undefined;
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([...this.servings, ...this.consumers].map((one) => one.close()));
      while (this.feedCalls.size) await Promise.allSettled(this.feedCalls);
      if (!this.connection.isClosed()) await this.connection.drain();
    })();
    return this.closing;
  }

  private bucketOf(consumer: string): Promise<KV> {
    const owner = ownerOf(consumer);
    let bucket = this.buckets.get(owner);
    if (!bucket) {
      bucket = new Kvm(this.stream).open(this.names.bucket(owner));
      this.buckets.set(owner, bucket);
    }
    return bucket;
  }

  private async newest(): Promise<number> {
    return (await this.manager.streams.info(this.names.stream)).state.last_seq;
  }

  /** Queried now; by the consumer again when that failed. */
  private startAfterNewest(): () => Promise<number> {
    const start = this.newest();
    this.starts.add(start);
    const known = () => this.starts.delete(start);
    start.then(known, known);
    return () => start.catch(() => this.newest());
  }

  private feed<T>(method: string, call: () => Promise<T>): Promise<T> {
    const subject = `feed.${method}`;
    if (this.connection.isClosed()) return Promise.reject(new RequestFailed('closed', subject));
    const result = call().catch((error: unknown) => {
      throw failed(error, subject);
    });
    this.feedCalls.add(result);
    const settle = () => this.feedCalls.delete(result);
    result.then(settle, settle);
    return result;
  }

  private async answer(serving: NatsServing, subject: Subject, handler: RequestHandler, message: Msg): Promise<void> {
    const from = this.names.callerOf(message.subject, subject);
    const envelope = envelopeOf(message);
    // A user has made the server send something else here: a stored message, or a reply.
    if (from === undefined || !envelope)
      return this.options.onError(subject, new Error(`message without caller or envelope: ${message.subject}`));
    const { h: headers, d: data } = envelope;
    if (Number(headers['deadline']) <= this.now()) return;
    let answer: string;
    serving.begin();
    try {
      const reply = await handler(data, headers, from);
      if (typeof reply?.ok !== 'boolean') throw new TypeError(`the handler of ${subject} returned no Reply`);
      answer = JSON.stringify(reply);
    } catch (error) {
      answer = JSON.stringify({ ok: false, error: INTERNAL_ERROR } satisfies Reply);
      this.options.onError(subject, error);
    }
    try {
      message.respond(answer);
    } catch (error) {
      // The caller's deadline decides.
      this.options.onError(subject, error);
    }
    serving.end();
  }
}

/** Errors and warnings of the server, for the log. */
const reportErrors = async (connection: NatsConnection, onError: OnError): Promise<void> => {
  for await (const status of connection.status()) if (status.type === 'error') onError('nats', status.error);
};

const envelopeOf = (message: Msg): Envelope | undefined => {
  try {
    const envelope = message.json<Envelope | null>();
    return typeof envelope?.h === 'object' && envelope.h !== null ? envelope : undefined;
  } catch {
    return undefined;
  }
};

type CallFeed = ConstructorParameters<typeof DurableConsumer>[2]['call'];

/** @throws NotMigrated */
const mustExist = async (manager: JetStreamManager, stream: string): Promise<void> => {
  try {
    await manager.streams.info(stream);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
      throw new NotMigrated(`NATS has no stream ${stream}, which this release needs: run "npm run migrate"`);
    throw error;
  }
};

/** Also as a NATS header, for tools that inspect the traffic without reading bodies. */
const deadlineHeader = (deadline: number) => {
  const set = natsHeaders();
  set.set('deadline', String(deadline));
  return set;
};

const isClosed = (error: unknown): boolean =>
  error instanceof errors.ClosedConnectionError ||
  error instanceof errors.DrainingConnectionError ||
  (error instanceof Error && error.cause !== undefined && isClosed(error.cause));

const failed = (error: unknown, subject: Subject): unknown => {
  const cause = error instanceof errors.RequestError ? error.cause : error;
  if (cause instanceof errors.NoRespondersError) return new RequestFailed('no-responder', subject);
  if (cause instanceof errors.TimeoutError) return new RequestFailed('timeout', subject);
  return isClosed(cause) ? new RequestFailed('closed', subject) : error;
};
