import type { Migrations, PostgresOptions } from '@attestry/postgres';
import type { Leases } from '../event-store.js';
import type { ListedCheckpoints } from '../subscriptions.js';
import type { Snapshots } from '../snapshots.js';
import type { Retention } from './partitioned-schema.js';
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
  const leases = new PostgresLeases(pool, options);
  return {
    leases,
    checkpoints: new PostgresCheckpoints(pool, options.schema),
    snapshots: new PostgresSnapshots(pool, options.schema),
    async close() {
      await leases.close();
      await pool.end();
    },
  };
};

/**
 * Creates the tables of leases, checkpoints and snapshots, and with `events` those of events; or adds what this release needs.
 *
 * @param retention keeps events in partitions by time, which are dropped that many days after their last event or at most a twelfth of
 * that later; may be changed by migrating again. Default: kept forever. A schema keeps its kind.
 * @returns days for which events are kept, if there is a retention
 */
export const migratePostgresEvents = async (
  options: { url: string; schema: string; serviceRole?: string },
  { events, retention }: { events: boolean; retention?: Retention },
): Promise<number | undefined> => {
  const { migrateSchema, openPool } = await import('@attestry/postgres');
  for (const component of await loadEventTables({ events, retention })) await migrateSchema(options, component);
  if (!events || !retention) return undefined;
  const pool = openPool({ ...options, connections: 1, onFailure: () => undefined });
  try {
    const { rows } = await pool.query<{ days: number }>(`SELECT days FROM ${options.schema}.retention`);
    return rows[0]!.days;
  } finally {
    await pool.end();
  }
};

/** The components of a schema, as {@link migratePostgresEvents} creates them. */
export const loadEventTables = async ({
  events,
  retention,
}: {
  events: boolean;
  retention?: Retention | undefined;
}): Promise<Migrations[]> => {
  const [{ EVENT_TABLES, LEASE_TABLES }, { partitionedEventTables }] = await Promise.all([
    import('./schema.js'),
    import('./partitioned-schema.js'),
  ]);
  if (!events) return [LEASE_TABLES];
  return [LEASE_TABLES, retention ? partitionedEventTables(retention) : EVENT_TABLES];
};
