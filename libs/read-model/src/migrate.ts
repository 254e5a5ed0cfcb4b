import type { Kysely, Transaction } from 'kysely';

/** A step that only adds: the previous release still runs beside this one (ADR 0057). Never edited once released. */
export interface Migration<Tables> {
  readonly name: string;
  up(trx: Transaction<Tables>): Promise<void>;
}

interface MigrationTables {
  migration: { scope: string; name: string };
}

/** Migrates the tables that are not projections: every migration once, in order, each in a separate transaction. */
export const migrate = async <Tables>(
  db: Kysely<Tables>,
  scope: string,
  migrations: readonly Migration<Tables>[],
): Promise<void> => {
  const registry = db as unknown as Kysely<MigrationTables>;
  await registry.connection().execute((connection) => makeRegistry(connection));
  for (const { name, up } of migrations) {
    await registry.transaction().execute(async (trx) => {
      // The row first: a concurrent migration waits here and then finds the step done.
      const done = await trx
        .insertInto('migration')
        .values({ scope, name })
        .onConflict((c) => c.doNothing())
        .executeTakeFirstOrThrow();
      if (done.numInsertedOrUpdatedRows === 1n) await up(trx as unknown as Transaction<Tables>);
    });
  }
};

/** In PostgreSQL concurrent creations of the same table collide in spite of IF NOT EXISTS: they run one at a time. */
const makeRegistry = async (db: Kysely<MigrationTables>): Promise<void> => {
  const { adapter } = db.getExecutor();
  const lock = { lockTable: 'migration', lockRowId: 'migration' };
  await adapter.acquireMigrationLock(db, lock);
  try {
    await db.schema
      .createTable('migration')
      .ifNotExists()
      .addColumn('scope', 'text', (c) => c.notNull())
      .addColumn('name', 'text', (c) => c.notNull())
      .addPrimaryKeyConstraint('migration_pk', ['scope', 'name'])
      .execute();
  } finally {
    await adapter.releaseMigrationLock(db, lock);
  }
};
