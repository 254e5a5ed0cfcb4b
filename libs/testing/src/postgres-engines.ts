import { hash } from 'node:crypto';
import { JoinedEventLog, type EventLog, type EventStore, type Leases } from '@attestry/event-store';
import { migratePostgresKeys, openPostgresKeyVault, type KeyVault } from '@attestry/keys';
import { migratePostgresReadModels, openPostgresReadModels, type ReadModels } from '@attestry/read-model';

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

/** The PostgreSQL server of the Jest project, as its superuser and as the role of a service; undefined in other projects. */
const givenServer = (): { admin: string; service: string; role: string } | undefined =>
  (globalThis as { serviceEngines?: string }).serviceEngines === 'postgres'
    ? (JSON.parse(process.env['ATTESTRY_SERVICES_POSTGRES']!) as { admin: string; service: string; role: string })
    : undefined;

/**
 * These engines; in the Jest project `int-postgres` with keys and read models in PostgreSQL, in schemas that belong to the
 * data folder. Events stay in the folder.
 */
export const chosenEngines = async <E extends ServiceEngines>(engines: E): Promise<E> => {
  const server = givenServer();
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
    await migrate({ url: server.admin, schema, serviceRole: server.role });
    return { url: server.service, schema };
  };
  const readModels = async (kind: string, eventStore: EventLog) => {
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
      operationReadModels: await readModels('analytics', new JoinedEventLog(engines.operationEvents, engines.events)),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};
