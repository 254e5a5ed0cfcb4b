import type { LeaseOptions } from '@attestry/event-store';
import type { ConsumerFeed, Envelope } from './consumer-feed.js';
import { DurableConsumer, type LoopOptions } from './durable-consumer.js';
import {
  INTERNAL_ERROR,
  MessageBus,
  RequestFailed,
  type Consumer,
  type FeedMessage,
  type OnError,
  type Reply,
  type RequestHandler,
  type RequestOptions,
  type Serving,
  type Subject,
} from './message-bus.js';

/** One server of a subject. */
export class Server implements Serving {
  private running = 0;
  private idle: (() => void) | undefined;
  private closing: Promise<void> | undefined;

  /** @param leave resolves when no request arrives any more and everything that arrived before has begun */
  constructor(
    private readonly subject: Subject,
    private readonly handler: RequestHandler,
    private readonly onError: OnError,
    private readonly leave: () => Promise<void> | void,
    private readonly onClosed: () => void,
  ) {}

  /** Passes the reply of the handler to `respond` as JSON text. */
  async answer({ h: headers, d: data }: Envelope, from: string, respond: (reply: string) => void): Promise<void> {
    this.running++;
    // A handler starts in a turn of its own, also when the request comes from this process.
    await Promise.resolve();
    let answer: string;
    try {
      const reply = await this.handler(data, headers, from);
      if (typeof reply?.ok !== 'boolean') throw new TypeError(`the handler of ${this.subject} returned no Reply`);
      answer = JSON.stringify(reply);
    } catch (error) {
      answer = JSON.stringify({ ok: false, error: INTERNAL_ERROR } satisfies Reply);
      this.onError(this.subject, error);
    }
    try {
      respond(answer);
    } catch (error) {
      // The caller's deadline decides.
      this.onError(this.subject, error);
    }
    if (--this.running === 0) this.idle?.();
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await this.leave();
      if (this.running) await new Promise<void>((resolve) => (this.idle = resolve));
      this.onClosed();
    })();
    return this.closing;
  }
}

/** Common to the adapters: requests with a deadline, and a `close` that waits for everything in progress. */
export abstract class BusAdapter extends MessageBus {
  private readonly servers = new Set<Server>();
  private readonly consumers = new Set<DurableConsumer>();
  private readonly feedCalls = new Set<Promise<unknown>>();
  private closing: Promise<void> | undefined;

  constructor(
    protected readonly onError: OnError,
    protected readonly now: () => number = Date.now,
  ) {
    super();
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([...this.servers, ...this.consumers].map((one) => one.close()));
      while (this.feedCalls.size) await Promise.allSettled(this.feedCalls);
      await this.disconnect();
    })();
    return this.closing;
  }

  /** True after {@link disconnect}, or when the connection ended by itself. */
  protected abstract readonly isClosed: boolean;
  protected abstract disconnect(): Promise<void>;

  protected addServer(subject: Subject, handler: RequestHandler, leave: () => Promise<void> | void): Server {
    const server: Server = new Server(subject, handler, this.onError, leave, () => this.servers.delete(server));
    this.servers.add(server);
    return server;
  }

  protected addConsumer(
    options: LoopOptions,
    handler: (messages: FeedMessage[]) => Promise<void>,
    feed: ConsumerFeed | Promise<ConsumerFeed>,
    lease?: LeaseOptions,
  ): Consumer {
    const isOpen = () => !this.isClosed;
    const onClosed = () => this.consumers.delete(consumer);
    const consumer: DurableConsumer = new DurableConsumer(options, handler, { feed, isOpen, onClosed }, lease);
    this.consumers.add(consumer);
    return consumer;
  }

  /** @throws RequestFailed */
  protected refuseWhileClosing(subject: Subject): void {
    if (this.closing) throw new RequestFailed('closed', subject);
  }

  /** The earlier deadline wins: the caller's own, or the one it passes on. */
  protected envelopeOf(data: unknown, { headers, timeoutMs }: RequestOptions) {
    const started = this.now();
    const inherited = Number(headers?.['deadline'] ?? Infinity);
    const deadline = Math.min(started + timeoutMs, Number.isNaN(inherited) ? Infinity : inherited);
    const envelope: Envelope = { h: { ...headers, deadline: String(deadline) }, d: data };
    return { deadline, leftMs: deadline - started, body: JSON.stringify(envelope) };
  }

  protected callFeed<T>(method: string, call: () => Promise<T>): Promise<T> {
    if (this.isClosed) return Promise.reject(new RequestFailed('closed', `feed.${method}`));
    const result = call();
    this.feedCalls.add(result);
    const settle = () => this.feedCalls.delete(result);
    result.then(settle, settle);
    return result;
  }
}
