import type { EventStore } from '../event-store.js';
import type { EventStoreDbTarget } from './connection-target.js';
import type { EventStoreDbOptions } from './eventstoredb-event-store.js';

// Loaded on demand: the embedded platform does not load the client.

/** Connects to EventStoreDB. @throws EventStoreUnavailable when the server does not respond or refuses */
export const openEventStoreDb = async (options: EventStoreDbOptions): Promise<EventStore> => {
  const { EventStoreDbStore } = await import('./eventstoredb-event-store.js');
  return EventStoreDbStore.connect(options);
};

/** Target of an `esdb://` URL, as the client reads it. @throws Error when it cannot be used */
export const loadEventStoreDbTarget = async (url: string): Promise<EventStoreDbTarget> => {
  const { eventStoreDbTarget } = await import('./connection-target.js');
  return eventStoreDbTarget(url);
};
