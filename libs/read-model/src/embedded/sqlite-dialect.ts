import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, CompiledQuery } from 'kysely';
import type { DatabaseConnection, Dialect, Driver, KyselyPlugin, QueryResult } from 'kysely';
import { SqliteThread, moduleBeside } from '@attestry/sqlite';
import type { QueryAnswer, QueryArgs, SqlValue } from './kysely.jobs.js';

export interface SqliteDatabaseOptions {
  /** Path of the database file. */
  file: string;
  /** Threads, each with a connection, for reads outside transactions. 0: reads share the writer. Default 1. */
  readers?: number;
  /** Further PRAGMA lines for every connection. */
  pragmas?: string[];
  plugins?: KyselyPlugin[];
  /** Called when a thread dies; every later query fails. */
  onFailure?: (error: Error) => void;
}

/**
 * Opens a SQLite file for Kysely. Writes and transactions share one connection and run one at a time; reads outside a transaction use
 * separate connections and return the last commit (WAL), however long a transaction takes.
 * Inside a transaction use only the transaction's own object: a write through the outer one waits for its end.
 */
export const openSqliteDatabase = async <Tables>(options: SqliteDatabaseOptions): Promise<Kysely<Tables>> => {
  const jobs = moduleBeside(import.meta.url, './kysely.jobs');
  const pragmas = options.pragmas ?? [];
  const { file, onFailure } = options;
  // The writer goes first: it creates the file and its WAL.
  const writer = await SqliteThread.spawn({ file, jobs, pragmas, onFailure });
  const readers = await Promise.all(
    Array.from({ length: options.readers ?? 1 }, () =>
      SqliteThread.spawn({ file, jobs, pragmas: [...pragmas, 'query_only = ON'], onFailure }),
    ),
  );
  return new Kysely<Tables>({ dialect: new SqliteThreadDialect(writer, readers), plugins: options.plugins });
};

class SqliteThreadDialect implements Dialect {
  constructor(
    private readonly writer: SqliteThread,
    private readonly readers: SqliteThread[],
  ) {}
  createAdapter = () => new ThreadedSqliteAdapter();
  createQueryCompiler = () => new SqliteQueryCompiler();
  createIntrospector = (db: Kysely<unknown>) => new SqliteIntrospector(db);
  createDriver = (): Driver => new SqliteThreadDriver(this.writer, this.readers);
}

/** Kysely's own adapter is written for one connection without threads; ours serializes access itself, and SQLite rolls DDL back. */
class ThreadedSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true;
  }
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

/** First come, first served. */
class Turnstile {
  private last: Promise<void> = Promise.resolve();

  async enter(): Promise<() => void> {
    const before = this.last;
    const mine = Promise.withResolvers<void>();
    this.last = mine.promise;
    await before;
    return mine.resolve;
  }
}

class SqliteThreadDriver implements Driver {
  private readonly turnstile = new Turnstile();
  private nextReader = 0;

  constructor(
    private readonly writer: SqliteThread,
    private readonly readers: SqliteThread[],
  ) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteConnection> {
    return new SqliteConnection(this.writer, this.turnstile, () => {
      this.nextReader = (this.nextReader + 1) % this.readers.length;
      return this.readers[this.nextReader];
    });
  }

  beginTransaction(connection: SqliteConnection): Promise<void> {
    return connection.begin();
  }

  commitTransaction(connection: SqliteConnection): Promise<void> {
    return connection.commit();
  }

  rollbackTransaction(connection: SqliteConnection): Promise<void> {
    return connection.rollback();
  }

  async savepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${quoted(name)}`));
  }

  async rollbackToSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${quoted(name)}`));
  }

  async releaseSavepoint(connection: SqliteConnection, name: string): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${quoted(name)}`));
  }

  async releaseConnection(): Promise<void> {}

  async destroy(): Promise<void> {
    await Promise.all(this.readers.map((reader) => reader.close()));
    await this.writer.close();
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Statements of `insertRows`, `putRows` and declared projections: callers use no result of them. */
const WRITES_ROWS = /^(insert into|delete from|update) /;
const BEGIN: QueryArgs = { sql: 'BEGIN IMMEDIATE', parameters: [] };
const COMMIT: QueryArgs = { sql: 'COMMIT', parameters: [] };

const bindable = (value: unknown): SqlValue => (typeof value === 'boolean' ? Number(value) : (value as SqlValue));

/** One use of the database: a query, or a transaction that holds the writer from BEGIN to its end. */
class SqliteConnection implements DatabaseConnection {
  private leave: (() => void) | undefined;
  /** Statements of the transaction that are sent with the next one: a message costs more than a statement. */
  private unsent: QueryArgs[] = [];

  constructor(
    private readonly writer: SqliteThread,
    private readonly turnstile: Turnstile,
    private readonly reader: () => SqliteThread | undefined,
  ) {}

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const args: QueryArgs = { sql: query.sql, parameters: query.parameters.map(bindable) };
    if (this.leave) {
      this.unsent.push(args);
      if (query.query.kind === 'RawNode' && WRITES_ROWS.test(query.sql)) return { rows: [] };
      return this.sendUnsent<R>();
    }
    const reader = query.query.kind === 'SelectQueryNode' ? this.reader() : undefined;
    if (reader) return this.send<R>(reader, [args]);
    const leave = await this.turnstile.enter();
    try {
      return await this.send<R>(this.writer, [args]);
    } finally {
      leave();
    }
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('the SQLite dialect does not stream: read in pages');
  }

  /** IMMEDIATE: a transaction that reads first and writes later would fail on another process's write in between. */
  async begin(): Promise<void> {
    this.leave = await this.turnstile.enter();
    this.unsent = [BEGIN];
  }

  /** After a COMMIT that failed Kysely calls {@link rollback}, which ends the turn. */
  async commit(): Promise<void> {
    this.unsent.push(COMMIT);
    await this.sendUnsent();
    this.end();
  }

  async rollback(): Promise<void> {
    this.unsent = [];
    try {
      await this.writer.call('rollback');
    } finally {
      this.end();
    }
  }

  private end(): void {
    this.leave?.();
    this.leave = undefined;
  }

  private async sendUnsent<R>(): Promise<QueryResult<R>> {
    const queries = this.unsent;
    this.unsent = [];
    try {
      return await this.send(this.writer, queries);
    } catch (error) {
      // It stays first: a later statement must not run outside a transaction.
      if (queries[0] === BEGIN) this.unsent = [BEGIN];
      throw error;
    }
  }

  private async send<R>(thread: SqliteThread, queries: QueryArgs[]): Promise<QueryResult<R>> {
    const answer = await thread.call<QueryAnswer>('query', queries);
    return { rows: answer.rows as R[], numAffectedRows: answer.changes, insertId: answer.insertId };
  }
}
