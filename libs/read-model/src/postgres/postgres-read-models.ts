import type { Pool } from 'pg';
import { openDatabase, type PostgresOptions } from '@attestry/postgres';
import { KyselyReadModels, type ReadModelOptions } from '../kysely-read-models.js';
import type { RegistryTables } from '../projection-registry.js';
import { openPostgresDatabase, sqliteTypes } from './postgres-dialect.js';
import { READ_MODEL_TABLES } from './schema.js';

export type PostgresReadModelsOptions = Pick<PostgresOptions, 'url' | 'schema' | 'connections' | 'timeoutMs'> &
  ReadModelOptions & {
    /** A connection was lost; the read models recover by themselves. */
    onDatabaseFailure?: (error: Error) => void;
  };

/** Read models in one schema of PostgreSQL. Several processes may open the same one; the lease decides which one projects. */
export class PostgresReadModels extends KyselyReadModels {
  private constructor(
    private readonly pool: Pool,
    options: ReadModelOptions,
  ) {
    super(openPostgresDatabase<RegistryTables>(pool), options);
  }

  /** @throws Error when the tables are missing or those of an older release */
  static async connect(options: PostgresReadModelsOptions): Promise<PostgresReadModels> {
    const { url, schema, connections, timeoutMs = 5000, onDatabaseFailure, ...rest } = options;
    const pool = await openDatabase(
      {
        url,
        schema,
        timeoutMs,
        ...(connections !== undefined && { connections }),
        onFailure: (error) => onDatabaseFailure?.(error),
        searchPath: true,
        // A holder that was stopped during a batch locks rows that its successor needs.
        settings: { types: sqliteTypes, idle_in_transaction_session_timeout: timeoutMs },
      },
      READ_MODEL_TABLES,
    );
    return new PostgresReadModels(pool, rest);
  }

  override async close(): Promise<void> {
    await super.close();
    if (!this.pool.ending) await this.pool.end();
  }
}
