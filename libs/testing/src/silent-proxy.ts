import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy between a client and a server on 127.0.0.1 that can become unresponsive: connections stay open, and no data passes. */
export class SilentProxy {
  private readonly sockets = new Set<Socket>();
  private silent = false;

  private constructor(
    private readonly server: ReturnType<typeof createServer>,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async to(target: number): Promise<SilentProxy> {
    const server = createServer();
    const proxy = new SilentProxy(server, target);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** From now on data on existing connections is lost, and new ones get no response. */
  silence(): void {
    this.silent = true;
  }

  /** New connections are answered again; those that fell silent stay so. */
  speak(): void {
    this.silent = false;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private join(client: Socket): void {
    const upstream = connect(this.target, '127.0.0.1');
    let lost = false;
    const pass = (from: Socket, to: Socket) => {
      this.sockets.add(from);
      from.on('data', (data) => {
        lost ||= this.silent;
        if (!lost) to.write(data);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        this.sockets.delete(from);
        if (!lost) to.destroy();
      });
    };
    pass(client, upstream);
    pass(upstream, client);
  }
}
