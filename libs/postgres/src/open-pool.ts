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
  /** An idle connection was lost; another one is created when needed. */
  onFailure: (error: Error) => void;
  /** Additional settings of a library for its connections. */
  settings?: Pick<PoolConfig, 'types' | 'idle_in_transaction_session_timeout'>;
  /** Tables are found by their bare names in `schema`, and only there. */
  searchPath?: boolean;
}

const engines = new Map<string, object>();

/** One object for all pools with this URL: same database, same role, so that one transaction can write for several of them. */
export const engineOf = (url: string): object => {
  const engine = engines.get(url) ?? {};
  engines.set(url, engine);
  return engine;
};

/** @throws RangeError for a name that would need quoting */
export const checkedSchema = (schema: string): string => {
  if (!/^[a-z_][a-z0-9_]{0,40}$/.test(schema)) throw new RangeError(`${schema} is not a valid schema name`);
  return schema;
};

/** Set as an option of the URL, as those override all other settings. Existing ones are kept. */
const withSearchPath = (url: string, schema: string): string => {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  const path = `-c search_path=${checkedSchema(schema)}`;
  address.searchParams.set('options', given ? `${given} ${path}` : path);
  return address.href;
};

export const poolSettings = ({
  url,
  schema,
  timeoutMs = 5000,
  settings,
  searchPath,
}: Omit<PostgresOptions, 'onFailure'>): PoolConfig => ({
  ...settings,
  connectionString: searchPath ? withSearchPath(url, schema) : url,
  application_name: `attestry ${checkedSchema(schema)}`,
  connectionTimeoutMillis: timeoutMs,
  statement_timeout: timeoutMs,
  // Longer than the server's own, which reports the better reason.
  query_timeout: timeoutMs + 1000,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
});

/** Connections are created on demand, and again after a failure. */
export const openPool = (options: PostgresOptions): Pool => {
  const pool = new pg.Pool({ ...poolSettings(options), max: options.connections ?? 10 });
  pool.on('error', options.onFailure);
  // The pool watches idle connections only, and an unhandled error event ends the process. The user of a connection that is lost between
  // two statements gets the error from the next one.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};
