import { KyselyReadModels } from '../kysely-read-models.js';
import type { ReadModelOptions } from '../kysely-read-models.js';
import type { RegistryTables } from '../projection-registry.js';
import { openSqliteDatabase } from './sqlite-dialect.js';
import type { SqliteDatabaseOptions } from './sqlite-dialect.js';

export type EmbeddedReadModelsOptions = ReadModelOptions & {
  /** Path of the database file. */
  file: string;
  /** See {@link SqliteDatabaseOptions.readers}. */
  readers?: number;
  /** Called when a thread of the database dies. */
  onDatabaseFailure?: SqliteDatabaseOptions['onFailure'];
};

/** Read models in one SQLite file. Several processes may open the same file; the lease decides which one projects. */
export class EmbeddedReadModels extends KyselyReadModels {
  static async openFile(options: EmbeddedReadModelsOptions): Promise<EmbeddedReadModels> {
    const { file, readers, onDatabaseFailure, ...rest } = options;
    const db = await openSqliteDatabase<RegistryTables>({ file, readers, onFailure: onDatabaseFailure });
    const readModels = new EmbeddedReadModels(db, rest);
    try {
      await readModels.migrate();
    } catch (error) {
      await db.destroy();
      throw error;
    }
    return readModels;
  }
}
