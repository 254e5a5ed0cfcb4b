import type { Migrations } from '@attestry/postgres';
import type { ReadModels } from '../read-model.js';
import type { PostgresReadModelsOptions } from './postgres-read-models.js';

// Loaded on demand: the embedded platform does not load the client.

/** Read models in a schema of PostgreSQL, for several processes. @throws Error when it was not migrated */
export const openPostgresReadModels = async (options: PostgresReadModelsOptions): Promise<ReadModels> => {
  const { PostgresReadModels } = await import('./postgres-read-models.js');
  return PostgresReadModels.connect(options);
};

/** Creates the schema in which services create their projections' tables, or adds what this release needs. */
export const migratePostgresReadModels = async (options: {
  url: string;
  schema: string;
  serviceRole?: string;
}): Promise<void> => {
  const [{ READ_MODEL_TABLES }, { migrateSchema }] = await Promise.all([
    import('./schema.js'),
    import('@attestry/postgres'),
  ]);
  await migrateSchema(options, READ_MODEL_TABLES);
};

/** The component of a schema, as {@link migratePostgresReadModels} creates it. */
export const loadReadModelTables = async (): Promise<Migrations[]> => {
  const { READ_MODEL_TABLES } = await import('./schema.js');
  return [READ_MODEL_TABLES];
};
