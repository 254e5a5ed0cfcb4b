import type { Kysely } from 'kysely';
import { openSqliteDatabase } from './embedded/sqlite-dialect.js';
import { ProjectionRegistry, type RegistryTables } from './projection-registry.js';
import type { Projection } from './read-model.js';

/** A projection, whatever its tables. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list of projections holds those of every kind of table
export type AnyProjection = Projection<any>;

/** Store of read models: a file, or a schema of PostgreSQL. */
export type ReadModelDatabase = { file: string } | { url: string; schema: string };

/**
 * Creates fresh, empty tables for a projection beside those that are read, from outside of the processes that run it. The holder of its
 * lease fills them from the first event, within seconds or at the next start, and all readers switch when they have caught up; a second
 * request has no further effect.
 *
 * @throws NotMigrated, or the error of a database that cannot be reached
 */
export const requestRebuild = async (
  database: ReadModelDatabase,
  projections: readonly AnyProjection[],
): Promise<void> => {
  if ('file' in database) {
    const db = await openSqliteDatabase<RegistryTables>({ file: database.file, readers: 0 });
    try {
      const registry = new ProjectionRegistry(db);
      await registry.migrate();
      await requestEach(registry, projections);
    } finally {
      await db.destroy();
    }
    return;
  }
  const [{ openDatabase }, { READ_MODEL_TABLES }, { openPostgresDatabase }] = await Promise.all([
    import('@attestry/postgres'),
    import('./postgres/schema.js'),
    import('./postgres/postgres-dialect.js'),
  ]);
  const pool = await openDatabase(
    { ...database, connections: 1, searchPath: true, onFailure: () => undefined },
    READ_MODEL_TABLES,
  );
  try {
    const db: Kysely<RegistryTables> = openPostgresDatabase(pool);
    await requestEach(new ProjectionRegistry(db), projections);
  } finally {
    await pool.end();
  }
};

const requestEach = async (registry: ProjectionRegistry, projections: readonly AnyProjection[]): Promise<void> => {
  for (const projection of projections) {
    // Never started yet: its first tables are as fresh as any.
    await registry.openGeneration(projection);
    await registry.requestRebuild(projection);
  }
};
