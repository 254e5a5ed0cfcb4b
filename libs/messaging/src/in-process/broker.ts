import type { MessagePort } from 'node:worker_threads';
import { Feed, type FeedOptions } from './feed.js';
import type { ToBroker, ToBus } from './frames.js';
import { InProcessBus } from './in-process-bus.js';
import { framedPort } from './framed-port.js';

interface Connection {
  id: number;
  deliver: (frame: ToBus) => void;
  close: () => Promise<void>;
}

interface Server {
  connection: Connection;
  id: number;
}

export interface BrokerOptions extends FeedOptions {}

/**
 * Routes requests to one of the servers of their subject, in turn, and owns the durable feed. It never looks into a
 * body. One thread has the broker; buses connect to it in the same thread or, over a `MessagePort`, from another.
 */
export class Broker {
  private readonly connections = new Map<number, Connection>();
  private readonly servers = new Map<string, Server[]>();
  private nextConnection = 1;
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly feed: Feed,
    private readonly options: BrokerOptions,
  ) {}

  static async open(options: BrokerOptions): Promise<Broker> {
    return new Broker(await Feed.open(options), options);
  }

  /** A bus in this thread. Its closing leaves the broker open. */
  connect(): InProcessBus {
    let receive: (frame: ToBus) => void = () => undefined;
    const connection = this.attach(
      (frame) => receive(frame),
      () => bus.close(),
    );
    const bus: InProcessBus = new InProcessBus(
      { send: (frame) => this.receive(connection, frame), onFrame: (listener) => (receive = listener) },
      { onError: this.options.onError, now: this.options.now },
    );
    return bus;
  }

  /** Lets the bus at the other end of the port in, see {@link InProcessBus.connect}. The port may end at any time. */
  connectPort(port: MessagePort): void {
    const framed = framedPort<ToBroker, ToBus>(port);
    const connection = this.attach(framed.send, async () => {
      framed.send(['closed']);
      framed.close();
    });
    framed.onFrame((frame) => this.receive(connection, frame));
    port.once('close', () => this.detach(connection));
  }

  /** True while some bus serves the subject. */
  serves(subject: string): boolean {
    return this.servers.has(subject);
  }

  /** Removes a durable consumer that will never run again, so that it no longer keeps messages from being pruned. */
  forgetConsumer(name: string): Promise<void> {
    return this.feed.forget(name);
  }

  /** Closes the buses of this thread (see {@link InProcessBus.close}), cuts those of other threads off, closes the feed. */
  close(): Promise<void> {
    this.closing ??= (async () => {
      await Promise.all([...this.connections.values()].map((connection) => connection.close()));
      await this.feed.close();
    })();
    return this.closing;
  }

  private attach(deliver: (frame: ToBus) => void, close: () => Promise<void>): Connection {
    if (this.closing) throw new Error('the broker is closed');
    const connection = { id: this.nextConnection++, deliver, close };
    this.connections.set(connection.id, connection);
    return connection;
  }

  private detach(connection: Connection): void {
    if (!this.connections.delete(connection.id)) return;
    for (const [subject, servers] of this.servers)
      this.keep(
        subject,
        servers.filter((server) => server.connection !== connection),
      );
    this.feed.dropHolder(connection.id);
  }

  private keep(subject: string, servers: Server[]): void {
    if (servers.length) this.servers.set(subject, servers);
    else this.servers.delete(subject);
  }

  private receive(connection: Connection, frame: ToBroker): void {
    switch (frame[0]) {
      case 'serve': {
        const [, id, subject] = frame;
        this.keep(subject, [...(this.servers.get(subject) ?? []), { connection, id }]);
        return;
      }
      case 'unserve': {
        for (const [subject, servers] of this.servers)
          this.keep(
            subject,
            servers.filter((server) => server.connection !== connection || server.id !== frame[1]),
          );
        return connection.deliver(['unserved', frame[1]]);
      }
      case 'request': {
        const [, call, subject, body, from, isChecked] = frame;
        const servers = this.servers.get(subject);
        if (!servers) return connection.deliver(['failed', call, 'no-responder']);
        const server = servers[0]!;
        if (servers.length > 1) servers.push(servers.shift()!);
        return server.connection.deliver(['request', [connection.id, call], server.id, body, from, isChecked]);
      }
      case 'answer':
        return this.connections.get(frame[1][0])?.deliver(['answer', frame[1][1], frame[2]]);
      case 'expired':
        return this.connections.get(frame[1][0])?.deliver(['failed', frame[1][1], 'timeout']);
      case 'feed': {
        const [, call, method, args] = frame;
        const run = this.feed[method].bind(this.feed) as (...all: unknown[]) => Promise<unknown>;
        // Only `open` looks at the holder.
        run(...args, ...(method === 'open' ? [connection.id] : [])).then(
          (result) => connection.deliver(['fed', call, result]),
          (error: unknown) =>
            connection.deliver(['feed-failed', call, error instanceof Error ? error.message : String(error)]),
        );
        return;
      }
      case 'goodbye':
        return this.detach(connection);
    }
  }
}
