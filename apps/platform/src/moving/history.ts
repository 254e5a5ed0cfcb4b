import { existsSync } from 'node:fs';
import { OPERATION_CATEGORY } from '@attestry/analytics';
import {
  EmbeddedEventStore,
  openEventStoreDb,
  openPostgresCoordination,
  openPostgresEvents,
  type EventStore,
  type Leases,
  type ListedCheckpoints,
  type Position,
  type RecordedEvent,
} from '@attestry/event-store';
import { fileOf, nameOf, schemaOf, type HistoryKind, type StoreLocation } from './store-location.js';

/** One store of events, with the leases and checkpoints of its consumers. */
export interface History {
  events: EventStore;
  /** Absent when their store is not known. */
  coordination?: { leases: Leases; checkpoints: ListedCheckpoints };
  /** A checkpoint beyond every event: a platform refuses to start with it. */
  unreachable: Position;
  /** Whether an event is of this kind; EventStoreDB holds all kinds together. */
  holds(event: RecordedEvent): boolean;
  close(): Promise<void>;
}

export interface HistoryOptions {
  kind: HistoryKind;
  /** The store of EventStoreDB's leases and checkpoints. */
  coordination?: StoreLocation | undefined;
  /** Created if missing, and the leases of an earlier process are void. Only under the folder's lock. */
  own?: boolean;
  /** Retention of operation events, where the store discards them itself. */
  retentionDays?: number;
}

const TIMEOUT_MS = 60_000;
const DECIMAL_END = '999999999999999';
const LOG_END = '9223372036854775807/9223372036854775807';
const everything = () => true;

/** @throws Error when it does not exist, NotMigrated, EventStoreUnavailable */
export const openHistory = async (location: StoreLocation, options: HistoryOptions): Promise<History> => {
  const { kind, own = false } = options;
  switch (location.kind) {
    case 'folder':
    case 'file': {
      const events = await openFile(location, kind, own);
      const coordination = { leases: events.leases, checkpoints: events.checkpoints };
      return { events, coordination, unreachable: DECIMAL_END, holds: everything, close: () => events.close() };
    }
    case 'postgres': {
      const events = await openPostgresEvents({ ...database(location, kind), timeoutMs: TIMEOUT_MS });
      const coordination = { leases: events.leases, checkpoints: events.checkpoints };
      return { events, coordination, unreachable: DECIMAL_END, holds: everything, close: () => events.close() };
    }
    case 'eventstoredb': {
      const { url, prefix } = location;
      const days = kind === 'operations' && options.retentionDays;
      const events = await openEventStoreDb({
        url,
        prefix,
        timeoutMs: TIMEOUT_MS,
        onFailure: () => undefined,
        ...(days && { retentionDays: days }),
      });
      const beside = options.coordination && (await openCoordination(options.coordination, kind, own));
      return {
        events,
        ...(beside && { coordination: beside }),
        unreachable: LOG_END,
        holds: ({ stream }) => stream.startsWith(`${OPERATION_CATEGORY}-`) === (kind === 'operations'),
        close: async () => {
          await events.close();
          await beside?.close();
        },
      };
    }
  }
};

const openFile = async (
  location: Extract<StoreLocation, { folder: string }>,
  kind: HistoryKind,
  own: boolean,
): Promise<EmbeddedEventStore> => {
  const file = fileOf(location, kind);
  if (!own && !existsSync(file)) throw new Error(`${file} does not exist`);
  return EmbeddedEventStore.openFile({ file, exclusive: own });
};

const database = (location: Extract<StoreLocation, { kind: 'postgres' }>, kind: HistoryKind) => ({
  url: location.url,
  schema: schemaOf(location, kind),
  connections: 4,
  onFailure: () => undefined,
});

const openCoordination = async (location: StoreLocation, kind: HistoryKind, own: boolean) => {
  if (location.kind === 'eventstoredb') throw new Error(`${nameOf(location)} stores no checkpoints`);
  if (location.kind === 'postgres') return openPostgresCoordination(database(location, kind));
  const file = await openFile(location, kind, own);
  return { leases: file.leases, checkpoints: file.checkpoints, close: () => file.close() };
};
