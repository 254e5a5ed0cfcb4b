export {
  INTERNAL_ERROR,
  MessageBus,
  UNNAMED_CALLER,
  RequestFailed,
  type Consumer,
  type ConsumerHealth,
  type ConsumerOptions,
  type FeedMessage,
  type Headers,
  type ListenerOptions,
  type OnError,
  type OutgoingMessage,
  type Reply,
  type RequestHandler,
  type RequestOptions,
  type Serving,
  type Subject,
  type WireError,
} from './message-bus.js';
export type { BusRights, Reading } from './bus-rights.js';
export { inTime } from './in-time.js';
export { NotPermitted, RestrictedBus } from './restricted-bus.js';
export { InProcessBus, type InProcessBusOptions } from './in-process/in-process-bus.js';
export {
  inspectNatsBus,
  inspectNatsServers,
  migrateNatsServer,
  openNatsBus,
  requireReleasedNats,
} from './nats/load-nats.js';
export { natsMigratePermissions, natsPermissions, type NatsPermissions } from './nats/nats-permissions.js';
export { ownerOf } from './nats/names.js';
export type { NatsBusOptions } from './nats/nats-bus.js';
export type { NatsOptions } from './nats/connect-nats.js';
export type { NatsUsersInspection } from './nats/inspect-nats-users.js';
export type { NatsFeedOptions } from './nats/migrate-nats.js';
export { BusContext, BusTransport } from './bus-transport.js';
export { describeMessageBus, type BusUnderTest } from './messaging.contract.js';
