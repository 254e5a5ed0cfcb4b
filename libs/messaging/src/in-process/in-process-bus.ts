import { randomUUID } from 'node:crypto';
import type { MessagePort } from 'node:worker_threads';
import type {
  Consumer,
  ConsumerOptions,
  FeedMessage,
  ListenerOptions,
  OnError,
  OutgoingMessage,
  ParkedMessage,
  Reply,
  RequestHandler,
  RequestOptions,
  Serving,
  Subject,
} from '../message-bus.js';
import { INTERNAL_ERROR, MessageBus, NOBODY, RequestFailed } from '../message-bus.js';
import { feedMessage, type Envelope } from '../consumer-feed.js';
import { DurableConsumer, type LoopOptions } from '../durable-consumer.js';
import { framedPort } from './framed-port.js';
import type { FeedCalls, ReturnAddress, ToBroker, ToBus } from './frames.js';

/** The way to the broker: a function call in its own thread, a port from another one. */
export interface BrokerLink {
  send(frame: ToBroker): void;
  onFrame(listener: (frame: ToBus) => void): void;
  close?(): void;
}

export interface InProcessBusOptions {
  onError: OnError;
  /** Milliseconds since the epoch; deadlines are set and checked by it. */
  now?: () => number;
}

/** Node fires timers beyond this at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

interface Call {
  subject: Subject;
  resolve: (value: unknown) => void;
  reject: (error: Error) => void;
  timer: NodeJS.Timeout | undefined;
}

class Server implements Serving {
  private inHand = 0;
  private closing: Promise<void> | undefined;
  private left: (() => void) | undefined;
  private idle: (() => void) | undefined;

  constructor(
    readonly subject: Subject,
    readonly handler: RequestHandler,
    private readonly leave: () => void,
  ) {}

  begin(): void {
    this.inHand++;
  }

  end(): void {
    if (--this.inHand === 0) this.idle?.();
  }

  /** The broker routes nothing here any more; everything it routed before has arrived. */
  unserved(): void {
    this.left?.();
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await new Promise<void>((resolve) => {
        this.left = resolve;
        this.leave();
      });
      if (this.inHand) await new Promise<void>((resolve) => (this.idle = resolve));
    })();
    return this.closing;
  }
}

/** The embedded message bus: one connection to a {@link Broker} of this process, from whatever thread. */
export class InProcessBus extends MessageBus {
  private readonly calls = new Map<number, Call>();
  private readonly servers = new Map<number, Server>();
  private readonly consumers = new Set<DurableConsumer>();
  private readonly feedCalls = new Set<Promise<unknown>>();
  private readonly now: () => number;
  private nextId = 1;
  private closing: Promise<void> | undefined;
  private closed = false;

  constructor(
    private readonly link: BrokerLink,
    private readonly options: InProcessBusOptions,
  ) {
    super();
    this.now = options.now ?? Date.now;
    link.onFrame((frame) => this.receive(frame));
  }

  /** A bus in a thread of its own; the other end of the port was given to `Broker.connectPort`. */
  static connect(port: MessagePort, options: InProcessBusOptions): InProcessBus {
    const framed = framedPort<ToBus, ToBroker>(port);
    const bus = new InProcessBus(framed, options);
    port.once('close', () => bus.cutOff());
    return bus;
  }

  serve(subject: Subject, handler: RequestHandler): Serving {
    if (this.closing) throw new RequestFailed('closed', subject);
    const id = this.nextId++;
    const server = new Server(subject, handler, () =>
      this.closed ? server.unserved() : this.link.send(['unserve', id]),
    );
    this.servers.set(id, server);
    this.link.send(['serve', id, subject]);
    return server;
  }

  async request<T>(subject: Subject, data: unknown, options: RequestOptions): Promise<Reply<T>> {
    const started = this.now();
    const inherited = Number(options.headers?.['deadline'] ?? Infinity);
    const deadline = Math.min(started + options.timeoutMs, Number.isNaN(inherited) ? Infinity : inherited);
    const body = JSON.stringify({ h: { ...options.headers, deadline: String(deadline) }, d: data } satisfies Envelope);
    const { from = NOBODY, isChecked = false } = options;
    const answer = await this.call<string>(subject, deadline - started, (id) => [
      'request',
      id,
      subject,
      body,
      from,
      isChecked,
    ]);
    return JSON.parse(answer) as Reply<T>;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<void> {
    if (!messages.length) return;
    await this.feed(
      'publish',
      messages.map(({ id, subject, headers, data }): [string, string, string] => [
        id,
        subject,
        JSON.stringify({ h: headers ?? {}, d: data } satisfies Envelope),
      ]),
    );
  }

  consume(options: ConsumerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.run(options, handler);
  }

  listen({ name, subjects }: ListenerOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    return this.run({ name: `${name}~${randomUUID()}`, subjects, start: 'listener' }, handler);
  }

  private run(options: LoopOptions, handler: (messages: FeedMessage[]) => Promise<void>): Consumer {
    if (this.closing) throw new RequestFailed('closed', options.name);
    const consumer: DurableConsumer = new DurableConsumer(
      options,
      handler,
      { call: (method, ...args) => this.feed(method, ...args), isOpen: () => !this.closed },
      () => this.consumers.delete(consumer),
    );
    this.consumers.add(consumer);
    return consumer;
  }

  async parked(consumer: string): Promise<ParkedMessage[]> {
    const rows = await this.feed('parked', consumer);
    return rows.map(([record, attempts, error, parkedAt]) => ({
      consumer,
      message: feedMessage(record, attempts),
      error,
      parkedAt,
    }));
  }

  async replay(consumer: string, messageId: string): Promise<void> {
    await this.feed('replay', consumer, messageId);
  }

  async head(): Promise<string | undefined> {
    const head = await this.feed('head');
    return head ? String(head) : undefined;
  }

  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([...this.servers.values(), ...this.consumers].map((one) => one.close()));
      while (this.feedCalls.size) await Promise.allSettled(this.feedCalls);
      if (this.closed) return;
      this.link.send(['goodbye']);
      this.link.close?.();
      this.cutOff();
    })();
    return this.closing;
  }

  /** Nothing can be sent or received any more. */
  private cutOff(): void {
    if (this.closed) return;
    this.closed = true;
    for (const call of this.calls.values()) {
      clearTimeout(call.timer);
      call.reject(new RequestFailed('closed', call.subject));
    }
    this.calls.clear();
    for (const server of this.servers.values()) server.unserved();
  }

  private call<T>(subject: Subject, timeoutMs: number | undefined, frame: (id: number) => ToBroker): Promise<T> {
    if (this.closed) return Promise.reject(new RequestFailed('closed', subject));
    const id = this.nextId++;
    return new Promise<T>((resolve, reject) => {
      const timer =
        timeoutMs === undefined
          ? undefined
          : setTimeout(
              () => this.settle(id)?.reject(new RequestFailed('timeout', subject)),
              Math.min(timeoutMs, LONGEST_TIMER),
            );
      this.calls.set(id, { subject, resolve: resolve as (value: unknown) => void, reject, timer });
      this.link.send(frame(id));
    });
  }

  private feed<M extends keyof FeedCalls>(method: M, ...args: Parameters<FeedCalls[M]>): ReturnType<FeedCalls[M]> {
    const result = this.call(`feed.${method}`, undefined, (id) => ['feed', id, method, args]);
    this.feedCalls.add(result);
    const forget = () => this.feedCalls.delete(result);
    result.then(forget, forget);
    return result as ReturnType<FeedCalls[M]>;
  }

  /** The call with this number, if it still waits. */
  private settle(id: number): Call | undefined {
    const call = this.calls.get(id);
    if (!call) return undefined;
    this.calls.delete(id);
    clearTimeout(call.timer);
    return call;
  }

  private receive(frame: ToBus): void {
    if (this.closed) return;
    switch (frame[0]) {
      case 'request':
        // A handler starts in a turn of its own, as behind a network.
        queueMicrotask(() => void this.answer(frame[1], frame[2], frame[3], frame[4], frame[5]));
        return;
      case 'answer':
      case 'fed':
        this.settle(frame[1])?.resolve(frame[2]);
        return;
      case 'failed': {
        const call = this.settle(frame[1]);
        call?.reject(new RequestFailed(frame[2], call.subject));
        return;
      }
      case 'feed-failed':
        this.settle(frame[1])?.reject(new Error(frame[2]));
        return;
      case 'unserved': {
        const server = this.servers.get(frame[1]);
        // After the requests routed here before this frame have begun.
        queueMicrotask(() => {
          this.servers.delete(frame[1]);
          server?.unserved();
        });
        return;
      }
      case 'closed':
        this.cutOff();
        return;
    }
  }

  private async answer(back: ReturnAddress, id: number, body: string, from: string, isChecked: boolean): Promise<void> {
    const server = this.servers.get(id);
    if (!server) return;
    const { h: headers, d: data } = JSON.parse(body) as Envelope;
    if (Number(headers['deadline']) <= this.now()) return this.link.send(['expired', back]);
    let answer: string;
    server.begin();
    try {
      const reply = await server.handler(data, headers, from, isChecked);
      if (typeof reply?.ok !== 'boolean') throw new TypeError(`the handler of ${server.subject} returned no Reply`);
      answer = JSON.stringify(reply);
    } catch (error) {
      answer = JSON.stringify({ ok: false, error: INTERNAL_ERROR } satisfies Reply);
      this.options.onError(server.subject, error);
    }
    if (!this.closed) this.link.send(['answer', back, answer]);
    server.end();
  }
}
