import { randomUUID } from 'node:crypto';
import {
  jetstream,
  jetstreamManager,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
  type JetStreamManager,
  type StreamInfo,
} from '@nats-io/jetstream';
import { Kvm, type KV } from '@nats-io/kv';
import { errors, headers as natsHeaders, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { BusAdapter, type Server } from '../bus-adapter.js';
import type { Envelope } from '../consumer-feed.js';
import {
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
import { requireReleasedStream } from './migrate-nats.js';
import { DEFAULT_NAMESPACE, Names, ownerOf } from './names.js';
import { NatsConsumerFeed } from './nats-consumer-feed.js';
import { NatsLeases } from './nats-leases.js';
import { NatsLink } from './nats-link.js';
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

/** The server lacks what the bus needs. */
export class NotMigrated extends Error {
  override readonly name = 'NotMigrated';
}

/**
 * The message bus on a NATS server: requests over queue groups, the durable feed over JetStream. `migrateNats` has created stream and
 * buckets before.
 */
export class NatsBus extends BusAdapter {
  /** Start sequences of consumers that begin with new messages; nothing is published before they are known. */
  private readonly starts = new Set<Promise<number>>();
  private readonly buckets = new Map<string, Promise<KV>>();
  private readonly link: NatsLink;

  private constructor(
    private readonly connection: NatsConnection,
    private readonly names: Names,
    private readonly stream: JetStreamClient,
    private readonly manager: JetStreamManager,
    private readonly options: NatsBusOptions,
  ) {
    super(options.onError, options.now);
    this.link = new NatsLink(connection);
  }

  /** @throws NotMigrated, UnreleasedData */
  static async connect(options: NatsBusOptions): Promise<NatsBus> {
    const names = new Names(options.namespace ?? DEFAULT_NAMESPACE);
    const onWaiting = (reason: string) => options.onError('nats', new Error(`waiting for a server: ${reason}`));
    const connection = await connectNats({ onWaiting, ...options });
    void reportErrors(connection, options.onError);
    try {
      // The account's state must not be readable for services.
      const manager = await jetstreamManager(connection, { checkAPI: false });
      const buckets = (options.owners ?? []).map((owner) => `KV_${names.bucket(owner)}`);
      requireReleasedStream(await mustExist(manager, names.stream));
      for (const bucket of buckets) await mustExist(manager, bucket);
      return new NatsBus(connection, names, jetstream(connection, { checkAPI: false }), manager, options);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    this.refuseWhileClosing(subject);
    const subscription = this.connection.subscribe(this.names.serving(subject), {
      queue: this.names.queue,
      callback: (error, message) => {
        if (error) this.onError(subject, error);
        else this.answer(server, subject, message);
      },
    });
    const server = this.addServer(subject, handler, async () => {
      // Resolves when the server routes no more requests here and everything it routed before has begun.
      if (!subscription.isClosed()) await subscription.drain();
    });
    return server;
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    await this.link.connected(subject);
    const { deadline, leftMs, body } = this.envelopeOf(data, options);
    if (this.isClosed) throw new RequestFailed('closed', subject);
    if (leftMs <= 0) throw new RequestFailed('timeout', subject);
    try {
      const from = this.names.request(options.from ?? UNNAMED_CALLER, subject);
      const settings = { timeout: leftMs, headers: deadlineHeader(deadline) };
      const answer = await this.link.during(subject, this.connection.request(from, body, settings));
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
    await this.callStream('publish', async () => {
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
    this.refuseWhileClosing(options.name);
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
    return this.addConsumer(options, handler, feed, {
      leases: new NatsLeases(bucketOf, (name) => this.names.leaseKey(name)),
      holder: randomUUID(),
      leaseMs,
      pollMs: Math.min(250, leaseMs / 8),
    });
  }

  listen({ name, subjects }: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    this.refuseWhileClosing(name);
    const feed = new NatsListenerFeed({
      manager: this.manager,
      connection: this.connection,
      names: this.names,
      startAfter: this.startAfterNewest(),
    });
    // Listeners should resume soon after a reconnect.
    const retry = { initialDelayMs: 100, maxDelayMs: 1000 };
    return this.addConsumer({ name, subjects, start: 'listener', retry }, handler, feed);
  }

  async head(): Promise<string | undefined> {
    const newest = await this.callStream('head', () => this.newest());
    return newest ? String(newest) : undefined;
  }

  protected get isClosed(): boolean {
    return this.connection.isClosed();
  }

  protected async disconnect(): Promise<void> {
    if (!this.isClosed) await this.connection.drain();
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

  private callStream<T>(method: string, call: () => Promise<T>): Promise<T> {
    const translate = (error: unknown) => {
      throw failed(error, `feed.${method}`);
    };
    const subject = `feed.${method}`;
    return this.callFeed(method, async () => {
      await this.link.connected(subject);
      return this.link.during(subject, call().catch(translate));
    });
  }

  private answer(server: Server, subject: Subject, message: Msg): void {
    const from = this.names.callerOf(message.subject, subject);
    const envelope = envelopeOf(message);
    // A user has made the server send something else here: a stored message, or a reply.
    if (from === undefined || !envelope)
      return this.onError(subject, new Error(`message without caller or envelope: ${message.subject}`));
    if (Number(envelope.h['deadline']) <= this.now()) return;
    void server.answer(envelope, from, (reply) => message.respond(reply));
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

/** @throws NotMigrated */
const mustExist = async (manager: JetStreamManager, stream: string): Promise<StreamInfo> => {
  try {
    return await manager.streams.info(stream);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)
      throw new NotMigrated(`NATS has no stream ${stream}, which this release needs: run "npm run migrate"`);
    throw error;
  }
};

/** The deadline is a NATS header too, for tools that inspect the traffic without reading bodies. */
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
  // The client throws this before it sends anything.
  if (error instanceof errors.RequestError && error.message === 'connection disconnected')
    return new RequestFailed('disconnected', subject);
  return isClosed(cause) ? new RequestFailed('closed', subject) : error;
};
