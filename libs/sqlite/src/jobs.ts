import type { DatabaseSync, StatementSync } from 'node:sqlite';

export type Database = DatabaseSync;
export type Statement = StatementSync;

/**
 * One named operation on a database file. It runs synchronously in the file's own thread.
 *
 * - `write`: queued writes are grouped into one transaction that is committed once (group commit). Every job runs
 *   as if in a savepoint of its own: a job that throws is rolled back alone and only its caller sees the error. It may
 *   therefore run twice, the first time undone: it has no effect outside the database.
 * - `read`: runs after the writes that were queued before it are durable; it may also see writes queued with it.
 * - `exclusive`: runs outside any transaction (PRAGMA, VACUUM, checkpoint).
 */
export interface Job {
  readonly kind: 'write' | 'read' | 'exclusive';
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- arguments are checked by the typed adapter that owns the jobs module
  execute(args: any): unknown;
}

export type Jobs = Record<string, Job>;

/**
 * A jobs module is loaded inside the thread. It may import Node's own modules and types only: in tests Node runs its source directly (type
 * stripping), so there is no resolver for other files.
 */
export interface JobsModule {
  /** Creates or migrates the schema, prepares statements, returns the jobs. */
  createJobs(db: Database, options: unknown): Jobs;
}
