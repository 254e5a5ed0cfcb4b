import type { MessageBus } from '../message-bus.js';
import type { NatsOptions } from './connect-nats.js';
import type { NatsUsersInspection } from './inspect-nats-users.js';
import type { NatsFeedOptions } from './migrate-nats.js';
import type { NatsBusOptions } from './nats-bus.js';

// The client is loaded by those who use it: the embedded platform does not wait for it when it starts.

/** Connects to a NATS server that was migrated. @throws JetStreamApiError when it was not */
export const openNatsBus = async (options: NatsBusOptions): Promise<MessageBus> => {
  const { NatsBus } = await import('./nats-bus.js');
  return NatsBus.open(options);
};

/** Makes what the bus needs on a NATS server, or brings it up to date; see `migrateNats`. */
export const migrateNatsServer = async (options: NatsOptions & NatsFeedOptions): Promise<void> => {
  const [{ connectNats }, { migrateNats }] = await Promise.all([
    import('./connect-nats.js'),
    import('./migrate-nats.js'),
  ]);
  const connection = await connectNats(options);
  try {
    await migrateNats(connection, options.namespace, options);
  } finally {
    await connection.close();
  }
};

/** Whether the servers keep the users apart; see `inspectNatsUsers`. */
export const inspectNatsServers = async (
  options: NatsOptions,
  others: readonly string[],
): Promise<NatsUsersInspection> => {
  const { inspectNatsUsers } = await import('./inspect-nats-users.js');
  return inspectNatsUsers(options, others);
};
