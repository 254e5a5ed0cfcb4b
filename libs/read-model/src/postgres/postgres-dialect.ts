import {
  AbortedTransactionError,
  CompiledQuery,
  DataTypeNode,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  RawNode,
} from 'kysely';
import type { ColumnDefinitionNode, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import pg, { type Pool, type PoolClient, type PoolConfig } from 'pg';
import { ReadModelUnavailable } from '../read-model.js';
import { storableText } from './storable-text.js';

/** Kysely on a pool whose tables are found by its search path. The pool belongs to its owner: `destroy` does not end it. */
export const openPostgresDatabase = <Tables>(pool: Pool): Kysely<Tables> =>
  new Kysely<Tables>({ dialect: new PooledDialect(pool) });

const BOOL = 16;
const INT8 = 20;
const NUMERIC = 1700;

const safeNumber = (text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${text} is too large for a JavaScript number`);
  return value;
};

/** Values as the SQLite dialect returns them: every number a JavaScript number, true and false 1 and 0. */
const parsers = new Map<number, (text: string) => unknown>([
  [BOOL, (text) => (text === 't' ? 1 : 0)],
  [INT8, safeNumber],
  [NUMERIC, safeNumber],
]);
export const sqliteTypes: PoolConfig['types'] = {
  getTypeParser: (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && parsers.get(oid)) || pg.types.getTypeParser(oid, format as 'text'),
};

const bindable = (value: unknown): unknown =>
  typeof value === 'string' ? storableText(value) : typeof value === 'boolean' ? Number(value) : value;

class PooledDialect implements Dialect {
  constructor(private readonly pool: Pool) {}
  createAdapter = () => new PostgresAdapter();
  createQueryCompiler = () => new SqliteLikeCompiler();
  createIntrospector = (db: Kysely<unknown>) => new PostgresIntrospector(db);
  createDriver = (): Driver => new PooledDriver(this.pool);
}

/** Columns mean what they mean in SQLite: text is compared byte by byte, an integer has 64 bits. */
class SqliteLikeCompiler extends PostgresQueryCompiler {
  protected override visitColumnDefinition(node: ColumnDefinitionNode): void {
    super.visitColumnDefinition({ ...node, dataType: columnType(node.dataType) } as ColumnDefinitionNode);
  }
}

const columnType = (type: ColumnDefinitionNode['dataType']): ColumnDefinitionNode['dataType'] => {
  if (!DataTypeNode.is(type)) return type;
  if (type.dataType === 'text') return RawNode.createWithSql('text collate "C"');
  if (type.dataType === 'integer') return DataTypeNode.create('bigint');
  return type;
};

class PooledDriver implements Driver {
  constructor(private readonly pool: Pool) {}

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PooledConnection> {
    try {
      return new PooledConnection(await this.pool.connect());
    } catch (error) {
      throw unavailable(error);
    }
  }

  /**
   * Rows and checkpoint become durable together or not at all, and a projection continues from a checkpoint that a crash of the server
   * rolled back: it need not wait for the server's disk.
   */
  async beginTransaction(connection: PooledConnection): Promise<void> {
    await connection.runStatement('begin; set local synchronous_commit to off');
  }

  async commitTransaction(connection: PooledConnection): Promise<void> {
    // COMMIT rolls back a transaction that an earlier failure aborted, without an error.
    if ((await connection.runStatement('commit')) === 'ROLLBACK') throw new AbortedTransactionError();
  }

  async rollbackTransaction(connection: PooledConnection): Promise<void> {
    try {
      await connection.runStatement('rollback');
    } catch (error) {
      connection.discard();
      throw error;
    }
  }

  async savepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.runStatement(`savepoint ${pg.escapeIdentifier(name)}`);
  }

  async rollbackToSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.runStatement(`rollback to ${pg.escapeIdentifier(name)}`);
  }

  async releaseSavepoint(connection: PooledConnection, name: string): Promise<void> {
    await connection.runStatement(`release ${pg.escapeIdentifier(name)}`);
  }

  async releaseConnection(connection: PooledConnection): Promise<void> {
    connection.release();
  }

  async destroy(): Promise<void> {}
}

const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

class PooledConnection implements DatabaseConnection {
  private usable = true;

  constructor(private readonly client: PoolClient) {}

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { command, rowCount, rows } = await this.discardOnFailure(() =>
      this.client.query(sql, parameters.map(bindable)),
    );
    return {
      rows: rows as R[],
      ...(CHANGES.has(command) && { numAffectedRows: BigInt(rowCount ?? 0) }),
    };
  }

  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('read models do not stream: read in pages');
  }

  /** Command tag of the server, for example `COMMIT`. */
  async runStatement(sql: string): Promise<string> {
    return (await this.discardOnFailure(() => this.client.query(sql))).command;
  }

  discard(): void {
    this.usable = false;
  }

  release(): void {
    this.client.release(!this.usable);
  }

  private async discardOnFailure<T>(query: () => Promise<T>): Promise<T> {
    try {
      return await query();
    } catch (error) {
      // Without a response of the server the state of the connection is unknown.
      if (!(error instanceof pg.DatabaseError)) this.discard();
      throw unavailable(error);
    }
  }
}

const unavailable = (error: unknown): ReadModelUnavailable => {
  const { message } = error as Error;
  return new ReadModelUnavailable(`read models: ${message}`, { cause: error });
};
