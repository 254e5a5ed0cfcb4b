import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * A simple load balancer: connections are distributed round-robin over the reachable targets; an established
 * connection stays with its target. Targets that are not ready get no new connections.
 */
export class TcpBalancer {
  private next = 0;
  private readonly sockets = new Set<Socket>();
  private targets: readonly number[] = [];

  private constructor(private readonly server: Server) {
    server.on('connection', (socket) => this.route(socket));
  }

  static async start(port = 0): Promise<TcpBalancer> {
    const server = createServer({ pauseOnConnect: true }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new TcpBalancer(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Ports of 127.0.0.1. */
  use(targets: readonly number[]): void {
    this.targets = targets;
  }

  async close(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private route(client: Socket, tried = 0): void {
    this.keep(client);
    if (tried >= this.targets.length) return void client.destroy();
    const target = connect(this.targets[this.next++ % this.targets.length]!, '127.0.0.1');
    this.keep(target);
    const refused = () => this.route(client, tried + 1);
    target.once('error', refused);
    target.once('connect', () => {
      target.off('error', refused);
      target.on('error', () => client.destroy());
      client.on('error', () => target.destroy());
      client.pipe(target).pipe(client);
      client.once('close', () => target.destroy());
      target.once('close', () => client.destroy());
    });
  }

  private keep(socket: Socket): void {
    if (this.sockets.has(socket)) return;
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
  }
}
