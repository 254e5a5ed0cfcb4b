import { hash } from 'node:crypto';
import type { EventStore, Leases } from '@attestry/event-store';
import { migratePostgresReadModels, openPostgresReadModels, type ReadModels } from '@attestry/read-model';
import pg from 'pg';
import { findPostgres, PostgresServer } from './postgres-server.js';
import { skipSuite } from './skipped-suite.js';

/** The embedded engines of a service under test, as far as PostgreSQL can take their place. */
interface ServiceEngines {
  config: { dataDir: string };
  events: EventStore;
  operationEvents: EventStore;
  leases: Leases;
  readModels: ReadModels;
  operationReadModels: ReadModels;
  close(): Promise<void>;
}

const ROLE = 'service';
let server: PostgresServer | undefined;

/**
 * For a spec that runs another one on PostgreSQL: `if (onPostgres('dids')) await import('./dids.int.spec.js')`.
 * False where PostgreSQL is not installed; the suite then says that it was skipped.
 */
export const onPostgres = (suite: string): boolean => {
  const programs = findPostgres();
  if (programs === undefined) {
    skipSuite(`${suite} on PostgreSQL`, 'PostgreSQL is not installed (Debian: apt install postgresql)');
    // Jest wants a test in each file.
    it.skip(`${suite} on PostgreSQL`, () => undefined);
    return false;
  }
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
    const admin = new pg.Client(server.url());
    await admin.connect();
    await admin.query(`CREATE ROLE ${ROLE} LOGIN`);
    await admin.end();
  }, 60_000);
  afterAll(() => server?.stop());
  return true;
};

/**
 * These engines; within {@link onPostgres} with read models in PostgreSQL, in schemas that belong to the data folder.
 * Events stay in the folder.
 */
export const chosenEngines = async <E extends ServiceEngines>(engines: E): Promise<E> => {
  if (!server) return engines;
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const engine of opened) await engine.close();
    await engines.close();
  };
  const name = `t${hash('sha256', engines.config.dataDir).slice(0, 16)}`;
  const migrated = async (schema: string) => {
    const options = { url: server!.url(), schema, serviceRole: ROLE };
    await migratePostgresReadModels(options);
    return { url: server!.url(ROLE), schema };
  };
  const readModels = async (kind: string, eventStore: EventStore) => {
    const found = await openPostgresReadModels({
      ...(await migrated(`${name}_${kind}`)),
      eventStore,
      leases: engines.leases,
      holder: 'test',
    });
    opened.push(found);
    return found;
  };
  try {
    return {
      ...engines,
      readModels: await readModels('read', engines.events),
      operationReadModels: await readModels('analytics', engines.operationEvents),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
