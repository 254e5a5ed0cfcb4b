import { migratePostgresEvents } from '@attestry/event-store';
import { migratePostgresKeys } from '@attestry/keys';
import { migrateNatsServer, requireReleasedNats } from '@attestry/messaging';
import { migratePostgresReadModels } from '@attestry/read-model';
import type { PlatformConfig } from '../config/config.js';
import { consumerOwners } from './consumer-owners.js';
import { databases } from './databases.js';
import { natsOptions } from './nats-options.js';
import { refuseOpenNats } from './open-engines.js';

const userOf = (url: string): string => decodeURIComponent(new URL(url).username);

/** Connection that creates the tables of a use: as the owner, which grants the role of the services its rights. */
const asOwner = (config: PlatformConfig, { url, schema }: { url: string; schema: string }) => {
  const owned = config.migrationDatabaseUrl === undefined ? url : ownerUrl(url, config.migrationDatabaseUrl);
  const serviceRole = config.databaseServiceRole ?? userOf(url);
  return { url: owned, schema, ...(serviceRole && serviceRole !== userOf(owned) && { serviceRole }) };
};

/** Keys may have a separate database, on the same server and with the same owner. */
export const ownerUrl = (url: string, owner: string): string => {
  const [use, as] = [new URL(url), new URL(owner)];
  if (use.host === as.host) as.pathname = use.pathname;
  return use.host === as.host ? as.href : url;
};

export interface Migrated {
  /** Objects that were created, or found complete. */
  done: string[];
  /** Differences from the settings, and why they were not changed. */
  left: string[];
}

const ALLOW = {
  replicas: 'MIGRATION_ALLOWS=fewer-replicas lowers them',
  retention: 'MIGRATION_ALLOWS=longer-retention lengthens it',
};

/**
 * Creates what the configured engines must have before a service starts, or adds what this release needs: tables, streams, buckets. May run
 * twice and in several places concurrently.
 *
 * @param onWaiting called with the reason for waiting for NATS
 * @throws UnreleasedData when an engine has data of before the first release, and then none is changed
 */
export const migrateEngines = async (
  config: PlatformConfig,
  onWaiting: (reason: string) => void = () => undefined,
): Promise<Migrated> => {
  const done: string[] = [];
  const left: string[] = [];
  const allowed = new Set(config.migrationAllows);
  const database = databases(config);
  await requireReleased(config, database, onWaiting);
  if (database) {
    const events = config.eventStoreUrl === undefined;
    await migratePostgresEvents(asOwner(config, database.events), { events });
    const wanted = config.operationEventsDaysGiven;
    const retention = { days: wanted, mayLengthen: allowed.has('longer-retention') };
    const days = await migratePostgresEvents(asOwner(config, database.operations), { events, retention });
    if (days !== undefined && days !== config.operationEventsDays)
      left.push(
        `PostgreSQL: the retention of ${database.operations.schema} is ${days} days, ` +
          (wanted === undefined
            ? 'OPERATION_EVENTS_DAYS is not set'
            : `OPERATION_EVENTS_DAYS is ${wanted}: ${ALLOW.retention}`),
      );
    await migratePostgresReadModels(asOwner(config, database['read-models']));
    await migratePostgresReadModels(asOwner(config, database.analytics));
    await migratePostgresKeys(asOwner(config, database.keys));
    done.push(
      `PostgreSQL: schemas ${Object.values(database)
        .map(({ schema }) => schema)
        .join(', ')}`,
    );
  }
  if (config.natsServers) {
    const owners = consumerOwners();
    const options = natsOptions(config);
    const kept = await migrateNatsServer({
      ...options,
      name: 'migrate',
      owners,
      ...(config.natsReplicas !== undefined && { replicas: config.natsReplicas }),
      fewerReplicas: allowed.has('fewer-replicas'),
      onWaiting,
    });
    for (const { stream, has, wanted } of kept)
      left.push(
        `NATS: ${stream} has ${has} replicas, ` +
          (wanted === undefined ? 'NATS_REPLICAS is not set' : `NATS_REPLICAS is ${wanted}: ${ALLOW.replicas}`),
      );
    await refuseOpenNats(config, 'migrate', options);
    done.push(`NATS: the stream and buckets of ${config.natsNamespace}`);
  }
  return { done, left };
};

const requireReleased = async (
  config: PlatformConfig,
  database: ReturnType<typeof databases>,
  onWaiting: (reason: string) => void,
): Promise<void> => {
  if (database) {
    const { requireReleasedSchema } = await import('@attestry/postgres');
    for (const use of Object.values(database)) await requireReleasedSchema(asOwner(config, use));
  }
  if (config.natsServers) await requireReleasedNats({ ...natsOptions(config), name: 'migrate', onWaiting });
};
