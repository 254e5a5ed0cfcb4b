import { hash } from 'node:crypto';
import type { EventStore, Leases } from '@attestry/event-store';
import { migratePostgresKeys, openPostgresKeyVault, type KeyVault } from '@attestry/keys';
import { migratePostgresReadModels, openPostgresReadModels, type ReadModels } from '@attestry/read-model';
import pg from 'pg';
import { findPostgres, PostgresServer } from './postgres-server.js';
import { skipSuite } from './skipped-suite.js';

/** The embedded engines of a service under test, as far as PostgreSQL can take their place. */
interface ServiceEngines {
  config: { dataDir: string; ownWriteMs: number };
  clock: { now(): Date };
  vault: KeyVault;
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
 * For a spec that runs others on PostgreSQL, all of a service's on one server: the modules of a service take longer to
 * load than most of its specs to run. Hooks outside a `describe` are then everybody's: `beforeEach` belongs inside one.
 * Where PostgreSQL is not installed the suite says that it was skipped.
 */
export const onPostgres = async (suite: string, load: () => Promise<unknown>): Promise<void> => {
  const programs = findPostgres();
  if (programs === undefined) {
    skipSuite(`${suite} on PostgreSQL`, 'PostgreSQL is not installed (Debian: apt install postgresql)');
    // Jest wants a test in each file.
    it.skip(`${suite} on PostgreSQL`, () => undefined);
    return;
  }
  beforeAll(async () => {
    server = await PostgresServer.start(programs);
    const admin = new pg.Client(server.url());
    await admin.connect();
    await admin.query(`CREATE ROLE ${ROLE} LOGIN`);
    await admin.end();
  }, 60_000);
  await load();
  // After the spec's own, which close what is open.
  afterAll(() => server?.stop());
};

/**
 * These engines; within {@link onPostgres} with keys and read models in PostgreSQL, in schemas that belong to the data
 * folder. Events stay in the folder.
 */
export const chosenEngines = async <E extends ServiceEngines>(engines: E): Promise<E> => {
  if (!server) return engines;
  const opened: { close(): Promise<void> }[] = [];
  const close = async () => {
    for (const engine of opened) await engine.close();
    await engines.close();
  };
  const name = `t${hash('sha256', engines.config.dataDir).slice(0, 16)}`;
  const keep = async <T extends { close(): Promise<void> }>(engine: Promise<T>): Promise<T> => {
    const ready = await engine;
    opened.push(ready);
    return ready;
  };
  const migrated = async (
    kind: string,
    migrate: (options: { url: string; schema: string; serviceRole: string }) => Promise<void>,
  ) => {
    const schema = `${name}_${kind}`;
    await migrate({ url: server!.url(), schema, serviceRole: ROLE });
    return { url: server!.url(ROLE), schema };
  };
  const readModels = async (kind: string, eventStore: EventStore) => {
    const schema = await migrated(kind, migratePostgresReadModels);
    const { leases, config } = engines;
    const options = { eventStore, leases, holder: 'test', ownWriteMs: config.ownWriteMs };
    return keep(openPostgresReadModels({ ...schema, ...options }));
  };
  const vault = async () => {
    const masterKeys = { current: { version: 1, key: new Uint8Array(32).fill(1) } };
    const onFailure = (error: Error) => process.stderr.write(`${error.message}\n`);
    const schema = await migrated('keys', migratePostgresKeys);
    return keep(openPostgresKeyVault({ ...schema, masterKeys, clock: () => engines.clock.now(), onFailure }));
  };
  try {
    return {
      ...engines,
      vault: await vault(),
      readModels: await readModels('read', engines.events),
      operationReadModels: await readModels('analytics', engines.operationEvents),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
