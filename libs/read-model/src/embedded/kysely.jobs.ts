import type { Database, Jobs, Statement } from '@attestry/sqlite';

/** Values that SQLite can bind; booleans are sent as 0 and 1. */
export type SqlValue = string | number | bigint | null | Uint8Array;

export interface QueryArgs {
  sql: string;
  parameters: SqlValue[];
}

export interface QueryAnswer {
  rows: unknown[];
  changes?: bigint;
  insertId?: bigint;
}

const MAX_STATEMENTS = 256;

/** Runs compiled statements of Kysely. Statements stay prepared; the least recently used are dropped first. */
export const createJobs = (db: Database, _options: unknown): Jobs => {
  const prepared = new Map<string, { statement: Statement; reads: boolean }>();

  const prepare = (sql: string) => {
    let entry = prepared.get(sql);
    if (entry) prepared.delete(sql);
    else {
      const statement = db.prepare(sql);
      entry = { statement, reads: statement.columns().length > 0 };
    }
    prepared.set(sql, entry);
    if (prepared.size > MAX_STATEMENTS) prepared.delete(prepared.keys().next().value!);
    return entry;
  };

  const run = ({ sql, parameters }: QueryArgs): QueryAnswer => {
    const { statement, reads } = prepare(sql);
    if (reads) return { rows: statement.all(...parameters) };
    const { changes, lastInsertRowid } = statement.run(...parameters);
    return { rows: [], changes: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  };

  return {
    /** Statements in order; returns the result of the last one. None runs after one that failed. */
    query: { kind: 'exclusive', execute: (queries: QueryArgs[]): QueryAnswer => queries.map(run).at(-1)! },
    /** Ends a transaction that SQLite may already have ended (for example, disk full). */
    rollback: {
      kind: 'exclusive',
      execute() {
        if (db.isTransaction) db.exec('ROLLBACK');
      },
    },
  };
};
