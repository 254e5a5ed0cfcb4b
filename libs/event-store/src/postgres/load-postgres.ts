import type { PostgresOptions } from '@attestry/postgres';
import type { Leases } from '../event-store.js';
import type { ListedCheckpoints } from '../subscriptions.js';
import type { Snapshots } from '../snapshots.js';
import type { PostgresEventStore } from './postgres-event-store.js';

// Loaded on demand: the embedded platform does not load the client.

/** The event store in PostgreSQL, with its leases, checkpoints and snapshots. @throws Error when it was not migrated */
export const openPostgresEvents = async (options: PostgresOptions): Promise<PostgresEventStore> => {
  const { PostgresEventStore } = await import('./postgres-event-store.js');
  return PostgresEventStore.connect(options);
};

/** Leases, checkpoints and snapshots for events in another engine. */
export interface PostgresCoordination {
  leases: Leases;
  checkpoints: ListedCheckpoints;
  snapshots: Snapshots;
  close(): Promise<void>;
}

/** @throws Error when it was not migrated */
export const openPostgresCoordination = async (options: PostgresOptions): Promise<PostgresCoordination> => {
  const [{ PostgresLeases, PostgresCheckpoints }, { PostgresSnapshots }, { LEASE_TABLES }, { openDatabase }] =
    await Promise.all([
      import('./postgres-leases.js'),
      import('./postgres-snapshots.js'),
      import('./schema.js'),
      import('@attestry/postgres'),
    ]);
  const pool = await openDatabase(options, LEASE_TABLES);
  return {
    leases: new PostgresLeases(pool, options.schema),
    checkpoints: new PostgresCheckpoints(pool, options.schema),
    snapshots: new PostgresSnapshots(pool, options.schema),
    close: () => pool.end(),
  };
};

/**
 * Creates the tables of leases, checkpoints and snapshots, and with `events` those of events; or adds what this release needs.
 *
 * @param retentionDays keeps events in partitions by time, which are dropped this many days after their last event or at most a twelfth of
 * that later; may be changed by migrating again. Default: kept forever. A schema keeps its kind.
 */
export const migratePostgresEvents = async (
  options: { url: string; schema: string; serviceRole?: string },
  { events, retentionDays }: { events: boolean; retentionDays?: number },
): Promise<void> => {
  const [{ EVENT_TABLES, LEASE_TABLES }, { partitionedEventTables }, { migrateSchema }] = await Promise.all([
    import('./schema.js'),
    import('./partitioned-schema.js'),
    import('@attestry/postgres'),
  ]);
  await migrateSchema(options, LEASE_TABLES);
  if (events)
    await migrateSchema(options, retentionDays === undefined ? EVENT_TABLES : partitionedEventTables(retentionDays));
};
