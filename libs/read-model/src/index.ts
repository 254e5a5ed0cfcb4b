export { ReadModels, ReadModelUnavailable } from './read-model.js';
export type {
  Page,
  Projection,
  ProjectionHealth,
  RawProjection,
  RunningProjection,
  SelectiveProjection,
} from './read-model.js';
export { CursorCodec, InvalidCursor, page } from './cursor.js';
export type { CursorCodecOptions, CursorKey, PageOptions } from './cursor.js';
export { countFitting, countFittingEntries, PAGE_SIZE, storedBytes } from './page-size.js';
export { createTable } from './create-table.js';
export { insertRows, putRows } from './insert-rows.js';
export { defineProjection, nothing } from './declared/define-projection.js';
export type { DeclaredProjection, EventSource } from './declared/define-projection.js';
export { below, declareTables } from './declared/tables.js';
export type { Change, Changes, DeclaredTables } from './declared/tables.js';
export { purgedTenant, type PurgedTenantEvent } from './declared/purged-tenant.js';
export { migrate } from './migrate.js';
export type { Migration } from './migrate.js';
export { EmbeddedReadModels } from './embedded/embedded-read-models.js';
export type { EmbeddedReadModelsOptions } from './embedded/embedded-read-models.js';
export { openSqliteDatabase } from './embedded/sqlite-dialect.js';
export type { SqliteDatabaseOptions } from './embedded/sqlite-dialect.js';
export { loadReadModelTables, migratePostgresReadModels, openPostgresReadModels } from './postgres/load-postgres.js';
export type { PostgresReadModelsOptions } from './postgres/postgres-read-models.js';
export { requestRebuild } from './request-rebuild.js';
export type { AnyProjection, ReadModelDatabase } from './request-rebuild.js';
