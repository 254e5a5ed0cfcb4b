import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy between a client and a server on 127.0.0.1 that can drop data. */
export class FaultyProxy {
  private readonly pairs = new Set<readonly [client: Socket, server: Socket]>();
  private losing = false;

  private constructor(
    private readonly listener: Server,
    readonly port: number,
  ) {}

  static async start(target: number): Promise<FaultyProxy> {
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    const proxy = new FaultyProxy(listener, (listener.address() as AddressInfo).port);
    listener.on('connection', (client) => proxy.join(client, connect(target, '127.0.0.1')));
    return proxy;
  }

  /** From now on requests arrive and responses are dropped. */
  loseAnswers(): void {
    this.losing = true;
  }

  /** Closes all connections; later ones work again. */
  cut(): void {
    this.losing = false;
    for (const [client, server] of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async stop(): Promise<void> {
    this.cut();
    this.listener.close();
    await once(this.listener, 'close');
  }

  private join(client: Socket, server: Socket): void {
    const pair = [client, server] as const;
    this.pairs.add(pair);
    client.on('data', (data) => server.write(data));
    server.on('data', (data) => this.losing || client.write(data));
    for (const [one, other] of [pair, [server, client] as const]) {
      // The client handles the broken connection.
      one.on('error', () => other.destroy());
      one.on('close', () => {
        other.destroy();
        this.pairs.delete(pair);
      });
    }
  }
}
