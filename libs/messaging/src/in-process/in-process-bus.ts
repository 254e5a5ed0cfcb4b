import { randomUUID } from 'node:crypto';
import { BusAdapter, type Server } from '../bus-adapter.js';
import type { Envelope } from '../consumer-feed.js';
import { inTime } from '../in-time.js';
import {
  UNNAMED_CALLER,
  RequestFailed,
  type Consumer,
  type ConsumerOptions,
  type FeedMessage,
  type ListenerOptions,
  type OutgoingMessage,
  type Reply,
  type RequestHandler,
  type RequestOptions,
  type Serving,
  type Subject,
} from '../message-bus.js';
import { Feed, type FeedOptions } from './feed.js';

/** `now` is also the clock of deadlines. */
export type InProcessBusOptions = FeedOptions;

/**
 * The embedded message bus. Requests are routed to one of the servers of their subject in this process, in turn, as JSON text; the
 * durable feed is a SQLite file.
 */
export class InProcessBus extends BusAdapter {
  private readonly routes = new Map<Subject, Server[]>();
  protected isClosed = false;

  private constructor(
    private readonly feed: Feed,
    { onError, now }: InProcessBusOptions,
  ) {
    super(onError, now);
  }

  static async open(options: InProcessBusOptions): Promise<InProcessBus> {
    return new InProcessBus(await Feed.open(options), options);
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    this.refuseWhileClosing(subject);
    const server: Server = this.addServer(subject, handler, () => {
      const left = this.routes.get(subject)!.filter((other) => other !== server);
      if (left.length) this.routes.set(subject, left);
      else this.routes.delete(subject);
    });
    this.routes.set(subject, [...(this.routes.get(subject) ?? []), server]);
    return server;
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    const { leftMs, body } = this.envelopeOf(data, options);
    if (this.isClosed) throw new RequestFailed('closed', subject);
    const servers = this.routes.get(subject);
    if (!servers) throw new RequestFailed('no-responder', subject);
    if (leftMs <= 0) throw new RequestFailed('timeout', subject);
    const server = servers[0]!;
    if (servers.length > 1) servers.push(servers.shift()!);
    const answer = new Promise<string>(
      (resolve) => void server.answer(JSON.parse(body) as Envelope, options.from ?? UNNAMED_CALLER, resolve),
    );
    return JSON.parse(await inTime(answer, leftMs, () => new RequestFailed('timeout', subject))) as Reply<T>;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (!messages.length) return;
    const bodies: [string, string, string][] = [];
    for (const { id, subject, headers, data } of messages)
      bodies.push([id, subject, JSON.stringify({ h: headers ?? {}, d: data } satisfies Envelope)]);
    await this.callFeed('publish', () => this.feed.publish(bodies));
  }

  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    this.refuseWhileClosing(options.name);
    return this.addConsumer(options, handler, this.feed);
  }

  listen({ name, subjects }: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    this.refuseWhileClosing(name);
    return this.addConsumer({ name: `${name}~${randomUUID()}`, subjects, start: 'listener' }, handler, this.feed);
  }

  async head(): Promise<string | undefined> {
    const head = await this.callFeed('head', () => this.feed.head());
    return head ? String(head) : undefined;
  }

  protected async disconnect(): Promise<void> {
    this.isClosed = true;
    await this.feed.close();
  }
}
