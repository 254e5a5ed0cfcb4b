import pg, { type Pool, type PoolConfig } from 'pg';

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`; TLS by its `sslmode`, `sslrootcert`, `sslcert` and `sslkey`. */
  url: string;
  /** Schema of the tables; lower-case letters, digits and `_`. */
  schema: string;
  /** Connections at most. Default 10. */
  connections?: number;
  /** How long a statement, or a wait for a connection, may take, milliseconds. Default 5,000. */
  timeoutMs?: number;
  /** A connection that nobody used was lost; another one is made when one is needed. */
  onFailure: (error: Error) => void;
}

/** @throws RangeError for what could not stand in a statement as it is */
export const checkedSchema = (schema: string): string => {
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) throw new RangeError(`${schema} is no name for a schema`);
  return schema;
};

export const poolSettings = ({ url, schema, timeoutMs = 5000 }: Omit<PostgresOptions, 'onFailure'>): PoolConfig => ({
  connectionString: url,
  application_name: `attestry ${checkedSchema(schema)}`,
  connectionTimeoutMillis: timeoutMs,
  statement_timeout: timeoutMs,
  // Longer than the server's own, which gives the better reason.
  query_timeout: timeoutMs + 1000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
});

/** Connections are made when they are needed, and again after a failure. */
export const openPool = (options: PostgresOptions): Pool => {
  const pool = new pg.Pool({ ...poolSettings(options), max: options.connections ?? 10 });
  pool.on('error', options.onFailure);
  return pool;
};
