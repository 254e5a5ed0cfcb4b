import type { MessageBus } from '../message-bus.js';
import type { NatsOptions } from './connect-nats.js';
import type { NatsFault } from './inspect-nats-streams.js';
import type { NatsUsersInspection } from './inspect-nats-users.js';
import type { KeptReplicas, NatsFeedOptions } from './migrate-nats.js';
import type { NatsBusOptions } from './nats-bus.js';

// Loaded on demand: the embedded platform does not load the client.

/** Connects to a migrated NATS server. @throws JetStreamApiError when it was not */
export const openNatsBus = async (options: NatsBusOptions): Promise<MessageBus> => {
  const { NatsBus } = await import('./nats-bus.js');
  return NatsBus.connect(options);
};

/** Creates what the bus needs on a NATS server, or updates it; see `migrateNats`. */
export const migrateNatsServer = async (options: NatsOptions & NatsFeedOptions): Promise<KeptReplicas[]> => {
  const [{ connectNats }, { migrateNats }] = await Promise.all([
    import('./connect-nats.js'),
    import('./migrate-nats.js'),
  ]);
  const connection = await connectNats(options);
  try {
    return await migrateNats(connection, options.namespace, options);
  } finally {
    await connection.close();
  }
};

/** Reads the feed and changes nothing. @throws UnreleasedData */
export const requireReleasedNats = async (options: NatsOptions): Promise<void> => {
  const [{ connectNats }, { requireReleasedFeed }] = await Promise.all([
    import('./connect-nats.js'),
    import('./migrate-nats.js'),
  ]);
  const connection = await connectNats(options);
  try {
    await requireReleasedFeed(connection, options.namespace);
  } finally {
    await connection.close();
  }
};

/** Whether the servers enforce the users' permissions; see `inspectNatsUsers`. */
export const inspectNatsServers = async (
  options: NatsOptions,
  others: readonly string[],
): Promise<NatsUsersInspection> => {
  const { inspectNatsUsers } = await import('./inspect-nats-users.js');
  return inspectNatsUsers(options, others);
};

/** Whether the servers answer and have what the bus needs; see `inspectNatsStreams`. */
export const inspectNatsBus = async (
  options: NatsOptions,
  owners: readonly string[],
  isMigration: boolean,
): Promise<NatsFault[]> => {
  const { inspectNatsStreams } = await import('./inspect-nats-streams.js');
  return inspectNatsStreams(options, owners, isMigration);
};
