import { randomUUID } from 'node:crypto';
import type {
  Consumer,
  ConsumerOptions,
  FeedMessage,
  ListenerOptions,
  OutgoingMessage,
  Reply,
  RequestHandler,
  RequestOptions,
  Serving,
  Subject,
} from '../message-bus.js';
import { INTERNAL_ERROR, MessageBus, UNNAMED_CALLER, RequestFailed } from '../message-bus.js';
import type { ConsumerFeed, Envelope } from '../consumer-feed.js';
import { DurableConsumer, type FeedAccess, type LoopOptions } from '../durable-consumer.js';
import { inTime } from '../in-time.js';
import { Feed, type FeedOptions } from './feed.js';

/** `now` is also the clock of deadlines. */
export type InProcessBusOptions = FeedOptions;

type FeedMethod = keyof ConsumerFeed | 'publish' | 'head' | 'deleteConsumer';

/** One server of a subject. */
class Server implements Serving {
  private running = 0;
  private closing: Promise<void> | undefined;
  private idle: (() => void) | undefined;

  constructor(
    readonly subject: Subject,
    readonly handler: RequestHandler,
    private readonly leave: (server: Server) => void,
  ) {}

  begin(): void {
    this.running++;
  }

  end(): void {
    if (--this.running === 0) this.idle?.();
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      this.leave(this);
      if (this.running) await new Promise<void>((resolve) => (this.idle = resolve));
    })();
    return this.closing;
  }
}

/**
 * The embedded message bus. Requests are routed to one of the servers of their subject in this process, in turn, as JSON text; the
 * durable feed is a SQLite file.
 */
export class InProcessBus extends MessageBus {
  private readonly servers = new Map<Subject, Server[]>();
  private readonly consumers = new Set<DurableConsumer>();
  private readonly feedCalls = new Set<Promise<unknown>>();
  private readonly now: () => number;
  private closing: Promise<void> | undefined;
  private closed = false;

  private constructor(
    private readonly feed: Feed,
    private readonly options: InProcessBusOptions,
  ) {
    super();
    this.now = options.now ?? Date.now;
  }

  static async open(options: InProcessBusOptions): Promise<InProcessBus> {
    return new InProcessBus(await Feed.open(options), options);
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    if (this.closing) throw new RequestFailed('closed', subject);
    const server = new Server(subject, handler, (left) => this.removeServer(left));
    this.servers.set(subject, [...(this.servers.get(subject) ?? []), server]);
    return server;
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    const started = this.now();
    const inherited = Number(options.headers?.['deadline'] ?? Infinity);
    const deadline = Math.min(started + options.timeoutMs, Number.isNaN(inherited) ? Infinity : inherited);
    const body = JSON.stringify({ h: { ...options.headers, deadline: String(deadline) }, d: data } satisfies Envelope);
    if (this.closed) throw new RequestFailed('closed', subject);
    const servers = this.servers.get(subject);
    if (!servers) throw new RequestFailed('no-responder', subject);
    if (deadline <= started) throw new RequestFailed('timeout', subject);
    const server = servers[0]!;
    if (servers.length > 1) servers.push(servers.shift()!);
    server.begin();
    const answer = this.answer(server, body, options.from ?? UNNAMED_CALLER);
    return JSON.parse(
      await inTime(answer, deadline - started, () => new RequestFailed('timeout', subject)),
    ) as Reply<T>;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (!messages.length) return;
    const bodies: [string, string, string][] = [];
    for (const { id, subject, headers, data } of messages)
      bodies.push([id, subject, JSON.stringify({ h: headers ?? {}, d: data } satisfies Envelope)]);
    await this.onFeed('publish', bodies);
  }

  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.startConsumer(options, handler);
  }

  listen({ name, subjects }: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.startConsumer({ name: `${name}~${randomUUID()}`, subjects, start: 'listener' }, handler);
  }

  async head(): Promise<string | undefined> {
    const head = await this.onFeed('head');
    return head ? String(head) : undefined;
  }

  /** Removes a durable consumer that will never run again, so that it no longer keeps messages from being pruned. */
  deleteConsumer(name: string): Promise<void> {
    return this.onFeed('deleteConsumer', name);
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      const servers = [...this.servers.values()].flat();
      await Promise.all([...servers, ...this.consumers].map((one) => one.close()));
      while (this.feedCalls.size) await Promise.allSettled(this.feedCalls);
      this.closed = true;
      await this.feed.close();
    })();
    return this.closing;
  }

  private removeServer(server: Server): void {
    const left = (this.servers.get(server.subject) ?? []).filter((other) => other !== server);
    if (left.length) this.servers.set(server.subject, left);
    else this.servers.delete(server.subject);
  }

  private startConsumer(options: LoopOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    if (this.closing) throw new RequestFailed('closed', options.name);
    const call: FeedAccess['call'] = (method, ...args) => this.onFeed(method, ...args);
    const consumer: DurableConsumer = new DurableConsumer(options, handler, { call, isOpen: () => !this.closed }, () =>
      this.consumers.delete(consumer),
    );
    this.consumers.add(consumer);
    return consumer;
  }

  private onFeed<M extends FeedMethod>(method: M, ...args: Parameters<Feed[M]>): ReturnType<Feed[M]> {
    type Method = (...all: unknown[]) => ReturnType<Feed[M]>;
    if (this.closed) return Promise.reject(new RequestFailed('closed', `feed.${method}`)) as ReturnType<Feed[M]>;
    const result = (this.feed[method] as Method).apply(this.feed, args);
    this.feedCalls.add(result);
    const settle = () => this.feedCalls.delete(result);
    result.then(settle, settle);
    return result;
  }

  /** The reply as JSON text. */
  private async answer(server: Server, body: string, from: string): Promise<string> {
    // A handler starts in a separate turn, as over a network.
    await Promise.resolve();
    try {
      const { h: headers, d: data } = JSON.parse(body) as Envelope;
      const reply = await server.handler(data, headers, from);
      if (typeof reply?.ok !== 'boolean') throw new TypeError(`the handler of ${server.subject} returned no Reply`);
      return JSON.stringify(reply);
    } catch (error) {
      this.options.onError(server.subject, error);
      return JSON.stringify({ ok: false, error: INTERNAL_ERROR } satisfies Reply);
    } finally {
      server.end();
    }
  }
}
