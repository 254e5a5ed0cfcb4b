export {
  migrateSchema,
  NotMigrated,
  openDatabase,
  requireReleasedSchema,
  requireVersion,
  schemaVersion,
  together,
  UnreleasedData,
  type Grant,
  type Migrations,
} from './migrate-schema.js';
export { inspectOwner, inspectSchema, type SchemaFault } from './inspect-schema.js';
export { engineOf, openPool, poolSettings, type PostgresOptions } from './open-pool.js';
export { postgresTarget, type PostgresTarget } from './connection-target.js';
