import type { EventStoreDbStandIn } from './eventstoredb-stand-in.js';

export type { EventStoreDbStandIn };

/** Starts the stand-in for EventStoreDB. gRPC and the messages are loaded only then. */
export const startEventStoreDbStandIn = async (): Promise<EventStoreDbStandIn> =>
  (await import('./eventstoredb-stand-in.js')).EventStoreDbStandIn.start();
