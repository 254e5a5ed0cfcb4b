import { loadEventStoreDbTarget } from '@attestry/event-store';
import type { ParsedSettings } from '../config/config.js';

/** Connection of this process to an engine, by setting. */
export interface EngineConnection {
  setting: string;
  /** Host names or addresses; none for a connection inside the machine. */
  hosts: readonly string[];
  credentials: boolean;
  /** `unverified`: encrypted, but any certificate is accepted. */
  tls: 'verified' | 'unverified' | 'none';
  /** Files with a private key or other credentials. */
  keyFiles: readonly string[];
  /** How to correct missing credentials, and missing TLS. */
  remedies: { credentials: string; tls: string };
}

/** A setting that the engine's client cannot use; the client's message may repeat a secret, so it is not kept. */
export interface UnusableConnection {
  setting: string;
  unusable: string;
}

type Connection = EngineConnection | UnusableConnection;

const bare = (host: string): string => host.replace(/^\[|\]$/g, '');

const ofPostgres = async (setting: string, url: string | undefined): Promise<Connection[]> => {
  if (url === undefined) return [];
  const { postgresTarget } = await import('@attestry/postgres');
  const remedies = {
    credentials: 'put user and password into the URL, or a client certificate (sslcert and sslkey)',
    tls: 'use sslmode=verify-full',
  };
  return [await attempt(setting, async () => ({ setting, ...postgresTarget(url), remedies }))];
};

const ofRedis = async ({ redisUrl }: ParsedSettings): Promise<Connection[]> => {
  if (redisUrl === undefined) return [];
  const setting = 'REDIS_URL';
  const remedies = {
    credentials: 'put the password into the URL (rediss://user:password@host), and have the server require it',
    tls: 'use rediss://',
  };
  const read = async (): Promise<EngineConnection> => {
    const { hostname, password, protocol } = new URL(redisUrl);
    const tls = protocol === 'rediss:' ? 'verified' : 'none';
    return {
      setting,
      hosts: [bare(hostname) || 'localhost'],
      credentials: password !== '',
      tls,
      keyFiles: [],
      remedies,
    };
  };
  return [await attempt(setting, read)];
};

const ofEventStoreDb = async ({ eventStoreUrl }: ParsedSettings): Promise<Connection[]> => {
  if (eventStoreUrl === undefined) return [];
  const setting = 'EVENTSTORE_URL';
  const remedies = {
    credentials:
      'put user and password into the URL, and remove tls=false: without TLS the client sends no credentials',
    tls: 'remove tls=false, and run the server with TLS',
  };
  return [
    await attempt(setting, async () => ({ setting, ...(await loadEventStoreDbTarget(eventStoreUrl)), remedies })),
  ];
};

const ofNats = async (parsed: ParsedSettings): Promise<Connection[]> => {
  const { natsServers, natsUser, natsPassword, natsCredentialsFile, natsCaFile, natsCertFile, natsKeyFile } = parsed;
  if (natsServers === undefined) return [];
  // The rule of connectNats: with one of these the client requires TLS of every server.
  const wantsTls = (natsCaFile ?? natsCertFile) !== undefined || natsServers.some((it) => it.startsWith('tls:'));
  return [
    {
      setting: 'NATS_URL',
      hosts: natsServers.map((server) => bare(new URL(server).hostname)),
      credentials:
        (natsUser !== undefined && natsPassword !== undefined) || (natsCredentialsFile ?? natsCertFile) !== undefined,
      tls: wantsTls ? 'verified' : 'none',
      keyFiles: [natsCredentialsFile, natsKeyFile].filter((file) => file !== undefined),
      remedies: {
        credentials:
          'set NATS_USER and NATS_PASSWORD, NATS_CREDENTIALS_FILE, or NATS_CERT_FILE and NATS_KEY_FILE, of a user of its own (docs/guides/nats.md)',
        tls: 'use tls://',
      },
    },
  ];
};

/** E-mail contains links that authenticate the reader. A relay without credentials is common, so only TLS is required. */
const ofSmtp = async ({ smtpUrl }: ParsedSettings): Promise<Connection[]> => {
  if (smtpUrl === undefined) return [];
  const setting = 'SMTP_URL';
  const read = async (): Promise<EngineConnection> => {
    const { parseConnectionUrl } = await import('nodemailer/lib/shared');
    const { host, secure, requireTLS, tls } = parseConnectionUrl(smtpUrl) as {
      host?: string;
      secure?: boolean;
      requireTLS?: boolean;
      tls?: { rejectUnauthorized?: boolean };
    };
    const encrypted = secure === true || requireTLS === true;
    return {
      setting,
      hosts: [bare(host ?? 'localhost')],
      credentials: true,
      tls: !encrypted ? 'none' : tls?.rejectUnauthorized === false ? 'unverified' : 'verified',
      keyFiles: [],
      remedies: { credentials: '', tls: 'use smtps://, or smtp:// with ?requireTLS=true' },
    };
  };
  return [await attempt(setting, read)];
};

/** Traces contain no secret; their request headers may. */
const ofOtlp = async ({ otlpEndpoint, otlpHeaders }: ParsedSettings): Promise<Connection[]> =>
  otlpEndpoint === undefined || otlpHeaders === undefined
    ? []
    : [
        {
          setting: 'OTEL_EXPORTER_OTLP_ENDPOINT',
          hosts: [bare(new URL(otlpEndpoint).hostname)],
          credentials: true,
          tls: otlpEndpoint.startsWith('https:') ? 'verified' : 'none',
          keyFiles: [],
          remedies: { credentials: '', tls: 'use https, because OTEL_EXPORTER_OTLP_HEADERS is sent there' },
        },
      ];

const attempt = async (setting: string, read: () => Promise<EngineConnection>): Promise<Connection> => {
  try {
    return await read();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      setting,
      unusable:
        code === 'ENOENT' || code === 'EACCES'
          ? `names a file that cannot be read (${code})`
          : 'cannot be read as a URL of this engine',
    };
  }
};

/** Every connection to an engine in the settings, as the clients of the engines read them. Does not connect. */
export const engineConnections = async (parsed: ParsedSettings): Promise<Connection[]> =>
  (
    await Promise.all([
      ofNats(parsed),
      ofEventStoreDb(parsed),
      ofPostgres('DATABASE_URL', parsed.databaseUrl),
      ofPostgres('KEYS_DATABASE_URL', parsed.keysDatabaseUrl),
      ofPostgres('MIGRATION_DATABASE_URL', parsed.migrationDatabaseUrl),
      ofRedis(parsed),
      ofSmtp(parsed),
      ofOtlp(parsed),
    ])
  ).flat();
