import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { Cluster } from './cluster.js';

/** The durable feed of a cluster on its NATS server, seen from outside. */
export class ClusterFeed {
  private constructor(
    private readonly connection: NatsConnection,
    private readonly manager: JetStreamManager,
    private readonly namespace: string,
  ) {}

  static async open({ env }: Cluster): Promise<ClusterFeed> {
    const connection = await connect({ servers: env['NATS_URL']!.split(','), maxReconnectAttempts: -1 });
    return new ClusterFeed(connection, await jetstreamManager(connection), env['NATS_NAMESPACE']!);
  }

  private get stream(): string {
    return `${this.namespace}_feed`;
  }

  /** The server's own consumers of a durable consumer of ours: one for the epoch of its holder. */
  async consumersOf(consumer: string): Promise<string[]> {
    const prefix = `${consumer.replaceAll('.', '=2e=')}~`;
    const names: string[] = [];
    for await (const { name } of this.manager.consumers.list(this.stream))
      if (name.startsWith(prefix)) names.push(name);
    return names;
  }

  /** Resets the server's acknowledgements: everything is delivered again. No process may hold the consumer. */
  async deleteConsumer(consumer: string): Promise<void> {
    for (const name of await this.consumersOf(consumer)) await this.manager.consumers.delete(this.stream, name);
  }

  async close(): Promise<void> {
    await this.connection.close();
  }
}
