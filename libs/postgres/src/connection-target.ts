import pg from 'pg';

/** Target of a connection string, as the client reads it. */
export interface PostgresTarget {
  /** Host names or addresses; none for a Unix socket. */
  hosts: string[];
  /** Whether the client has a password or a certificate; for a Unix socket the server authenticates its user. */
  credentials: boolean;
  /** `unverified`: encrypted, but any certificate is accepted. */
  tls: 'verified' | 'unverified' | 'none';
  keyFiles: string[];
}

interface Parsed {
  host: string;
  user?: string;
  password?: string | null;
  ssl: boolean | { rejectUnauthorized?: boolean; key?: unknown } | undefined;
}

/**
 * Read with the client itself, which also uses `PGSSLMODE` and `PGPASSWORD` and lets `?host=` replace the host. Does not connect.
 * @throws Error when the client cannot use the URL, or a file that it names
 */
export const postgresTarget = (url: string): PostgresTarget => {
  const { host, user, password, ssl } = new pg.Client({ connectionString: url }) as unknown as Parsed;
  const isSocket = host.startsWith('/');
  const options = typeof ssl === 'object' ? ssl : {};
  const keyFile = new URL(url).searchParams.get('sslkey');
  return {
    hosts: isSocket ? [] : [host],
    credentials: isSocket || (!!user && (!!password || !!options.key)),
    tls: !ssl ? 'none' : options.rejectUnauthorized === false ? 'unverified' : 'verified',
    keyFiles: keyFile ? [keyFile] : [],
  };
};
