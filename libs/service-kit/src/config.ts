import { isIP } from 'node:net';
import { LOGGING_LEVELS, MAX_SECRET_OVERLAP_SECONDS, SERVICE_NAMES, type LoggingLevel } from '@attestry/contracts';

/**
 * Configuration: declared once, parsed once from the environment into one typed object, all faults reported together,
 * secrets redacted (architecture 5.9). docs/reference/configuration.md is generated from {@link SETTINGS}.
 */

export interface EnvironmentConfig {
  id: string;
  name: string;
  domain: string;
  authorizationServerDomain: string;
  deploymentModel: string;
  region: { id: string; name: string; displayName: string };
}

interface Setting<T> {
  env: string;
  about: string;
  /** Shown in the reference page. */
  default: string;
  secret?: boolean;
  parse(text: string | undefined): T;
}

class Fault extends Error {}
const fail = (message: string): never => {
  throw new Fault(message);
};

const setting = <T>(
  env: string,
  about: string,
  defaultText: string,
  parse: (text: string) => T,
  options: { secret?: boolean; absent?: () => T } = {},
): Setting<T> => ({
  env,
  about,
  default: defaultText,
  secret: options.secret ?? false,
  parse: (text) =>
    text === undefined || text === '' ? (options.absent ? options.absent() : parse(defaultText)) : parse(text),
});

const text = (s: string) => s;
const optional = { absent: () => undefined };
const integer = (min: number, max: number) => (s: string) => {
  const n = /^\d{1,12}$/.test(s) ? Number(s) : NaN;
  return n >= min && n <= max ? n : fail(`must be a whole number from ${min} to ${max}`);
};
const oneOf =
  <T extends string>(...values: T[]) =>
  (s: string): T =>
    values.includes(s as T) ? (s as T) : fail(`must be one of: ${values.join(', ')}`);
const share = (s: string) => {
  const n = /^(?:0|1|0?\.\d{1,6}|1\.0+|0\.0+)$/.test(s) ? Number(s) : NaN;
  return n >= 0 && n <= 1 ? n : fail('must be a number from 0 to 1');
};
const flag = (s: string) => oneOf('true', 'false')(s) === 'true';
const host = (s: string) =>
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?::\d{1,5})?$/.test(s)
    ? s
    : fail('must be a host name in lower case, with a port where it is not the usual one');
const httpUrl = (s: string) => {
  const url = URL.canParse(s) ? new URL(s) : undefined;
  return url && /^https?:$/.test(url.protocol) ? s : fail('must be an http or https URL');
};
const mailAddress = (s: string) =>
  /^(?:[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(s)
    ? s
    : fail('must be an e-mail address, with or without a name before it');
/** With one of these schemes; what it says beside that is the client's to judge. */
const urlOf =
  (...schemes: string[]) =>
  (s: string) =>
    schemes.some((scheme) => s.startsWith(`${scheme}//`) && s.length > scheme.length + 2)
      ? s
      : fail(`must begin with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`);
const list =
  <T>(parse: (s: string) => T) =>
  (s: string): T[] =>
    s
      .split(',')
      .map((part) => part.trim())
      .filter(Boolean)
      .map(parse);
const key32 = (s: string) => {
  const bytes = Buffer.from(s, 'base64url');
  return /^[A-Za-z0-9_-]{43}$/.test(s) && bytes.length === 32
    ? new Uint8Array(bytes)
    : fail('must be 32 bytes in base64url without padding (43 characters)');
};
const addresses = (s: string) =>
  s
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)
    .map((part) => {
      const [address, bits, ...rest] = part.split('/');
      const family = isIP(address ?? '');
      const max = family === 4 ? 32 : 128;
      return family && !rest.length && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= max))
        ? part
        : fail(`${part} is not an address or a CIDR range`);
    });

/** Ranges of one's own networks; `/0` would be every address. */
const ranges = (s: string) => {
  const given = addresses(s);
  const all = given.find((part) => /\/0+$/.test(part));
  return all === undefined ? given : fail(`${all} is every address: name the networks of the engines`);
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const environments = (s: string): EnvironmentConfig[] => {
  let list: unknown;
  try {
    list = JSON.parse(s);
  } catch {
    return fail('must be JSON');
  }
  if (!Array.isArray(list) || !list.length) return fail('must be a non-empty array');
  const seen = new Set<string>();
  return list.map((entry: EnvironmentConfig, i) => {
    const at = `[${i}]`;
    if (!UUID.test(entry?.id)) fail(`${at}.id must be a uuid`);
    if (typeof entry.name !== 'string' || !entry.name) fail(`${at}.name is missing`);
    for (const member of ['domain', 'authorizationServerDomain'] as const) {
      if (typeof entry[member] !== 'string') fail(`${at}.${member} is missing`);
      host(entry[member]);
    }
    for (const value of [entry.id, entry.domain, entry.authorizationServerDomain]) {
      if (seen.has(value)) fail(`${at}: ${value} occurs twice`);
      seen.add(value);
    }
    const region = entry.region;
    if (!UUID.test(region?.id) || typeof region.name !== 'string' || typeof region.displayName !== 'string')
      fail(`${at}.region needs id (uuid), name and displayName`);
    return {
      ...entry,
      deploymentModel: entry.deploymentModel ?? 'public',
      region: { ...region, name: region.name.toLowerCase() },
    };
  });
};

export interface RateLimits {
  api: number;
  walletTenant: number;
  walletAddress: number;
  public: number;
}
/** A JSON object: tenant id to whatever `entry` makes of the value. */
const perTenant =
  <T>(what: string, entry: (value: unknown) => T) =>
  (s: string): Record<string, T> => {
    let value: unknown;
    try {
      value = JSON.parse(s);
    } catch {
      // told below
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return fail(`must be a JSON object: tenant id to ${what}`);
    return Object.fromEntries(
      Object.entries(value).map(([tenantId, one]) => [
        UUID.test(tenantId) ? tenantId : fail(`${tenantId} must be a uuid`),
        entry(one),
      ]),
    );
  };

const RATES: readonly (keyof RateLimits)[] = ['api', 'walletTenant', 'walletAddress', 'public'];
const rateOverrides = perTenant('limits', (value): Partial<RateLimits> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('limits must be an object');
  for (const [name, limit] of Object.entries(value)) {
    if (!RATES.includes(name as keyof RateLimits)) fail(`${name} is none of ${RATES.join(', ')}`);
    if (!Number.isInteger(limit) || (limit as number) < 1) fail(`${name} must be a whole number of at least 1`);
  }
  return value;
});

const loggingLevels = perTenant('1, 2 or 3', (value): LoggingLevel =>
  (LOGGING_LEVELS as readonly unknown[]).includes(value)
    ? (value as LoggingLevel)
    : fail(`${String(value)} is none of 1, 2, 3`),
);

const perMinute = integer(1, 1_000_000_000);

/** As `dns.setServers` takes them: an address, with a port where it is not 53; IPv6 in brackets then. */
const dnsServer = (s: string) => {
  const [, v6, v6Port] = /^\[([0-9a-fA-F:.]+)\](?::(\d{1,5}))?$/.exec(s) ?? [];
  const [, v4, v4Port] = /^([0-9.]+)(?::(\d{1,5}))?$/.exec(s) ?? [];
  const port = Number(v6Port ?? v4Port ?? 53);
  const isAddress = isIP(v6 ?? '') === 6 || isIP(v4 ?? '') === 4 || isIP(s) === 6;
  return isAddress && port >= 1 && port <= 65535 ? s : fail(`${s} is not an address, or an address with a port`);
};

/** Every environment variable. */
export const SETTINGS = {
  nodeEnv: setting(
    'NODE_ENV',
    'Development defaults are refused in `production`.',
    'development',
    oneOf('development', 'test', 'production'),
  ),
  port: setting('PORT', 'Port of the HTTP server; 0 takes a free one.', '8080', integer(0, 65535)),
  host: setting('HOST', 'Address the HTTP server binds to.', '127.0.0.1', text),
  dataDir: setting('DATA_DIR', 'Folder of the embedded engines.', '.attestry', text),
  service: setting(
    'SERVICE',
    'The one service this process runs: `gateway`, or one of those it forwards to. Default: all of them in one process.',
    '',
    oneOf('gateway', ...SERVICE_NAMES),
    optional,
  ),
  shutdownDelay: setting(
    'SHUTDOWN_DELAY',
    'Seconds between becoming unready and closing the doors, for load balancers to notice.',
    '0',
    integer(0, 300),
  ),
  natsServers: setting(
    'NATS_URL',
    'Comma list of NATS servers (`nats://` or `tls://host:port`): the bus between processes. Default: in this process.',
    '',
    list((s) =>
      s.includes('@')
        ? fail('must not hold credentials: use NATS_USER and NATS_PASSWORD, or NATS_CREDENTIALS_FILE')
        : urlOf('nats:', 'tls:')(s),
    ),
    optional,
  ),
  natsUser: setting(
    'NATS_USER',
    'User on the NATS servers: the name of the service, see the guide on NATS.',
    '',
    text,
    optional,
  ),
  natsPassword: setting('NATS_PASSWORD', 'Its password.', '', text, { secret: true, ...optional }),
  natsCredentialsFile: setting(
    'NATS_CREDENTIALS_FILE',
    'Path of a `.creds` file, instead of user and password.',
    '',
    text,
    optional,
  ),
  natsCaFile: setting('NATS_CA_FILE', 'Path of the certificates (PEM) the servers are trusted by.', '', text, optional),
  natsCertFile: setting('NATS_CERT_FILE', 'Path of the client certificate (PEM).', '', text, optional),
  natsKeyFile: setting('NATS_KEY_FILE', 'Path of its key (PEM).', '', text, optional),
  natsNamespace: setting(
    'NATS_NAMESPACE',
    'Prefix of subjects, streams and buckets, so that several platforms can share servers.',
    'attestry',
    (s) => (/^[A-Za-z0-9_-]+$/.test(s) ? s : fail('must be letters, digits, - and _')),
  ),
  natsReplicas: setting(
    'NATS_REPLICAS',
    'Copies of streams and buckets in a cluster; for `migrate`.',
    '1',
    integer(1, 5),
  ),
  eventStoreUrl: setting(
    'EVENTSTORE_URL',
    'EventStoreDB for events: `esdb://user:password@host:2113?tls=true`. Default: `DATABASE_URL`, else a file.',
    '',
    urlOf('esdb:', 'esdb+discover:', 'kurrentdb:', 'kurrentdb+discover:'),
    { secret: true, ...optional },
  ),
  eventStorePrefix: setting(
    'EVENTSTORE_PREFIX',
    'Before the names of all streams in EventStoreDB, so that several platforms can share a server. Default: none.',
    '',
    (s) => (/^[A-Za-z0-9_]+$/.test(s) ? s : fail('must be letters, digits and _')),
    optional,
  ),
  databaseUrl: setting(
    'DATABASE_URL',
    'PostgreSQL for read models, keys, leases and, without `EVENTSTORE_URL`, events; as the role of the services. Default: files.',
    '',
    urlOf('postgres:', 'postgresql:'),
    { secret: true, ...optional },
  ),
  databaseSchema: setting(
    'DATABASE_SCHEMA',
    'Schema of events and leases; the others begin with its name (`_operations`, `_read`, `_analytics`, `_keys`).',
    'attestry',
    (s) => (/^[a-z_][a-z0-9_]{0,28}$/.test(s) ? s : fail('must be lower-case letters, digits and _')),
  ),
  databasePool: setting('DATABASE_POOL', 'Connections of one process at most, for each use.', '10', integer(1, 200)),
  keysDatabaseUrl: setting(
    'KEYS_DATABASE_URL',
    'PostgreSQL for keys alone. Default: `DATABASE_URL`.',
    '',
    urlOf('postgres:', 'postgresql:'),
    { secret: true, ...optional },
  ),
  redisUrl: setting(
    'REDIS_URL',
    'Redis or Valkey for rate limits and single-use values: `redis://` or `rediss://`. Default: memory and a file.',
    '',
    urlOf('redis:', 'rediss:'),
    { secret: true, ...optional },
  ),
  plaintextEngines: setting(
    'PLAINTEXT_ENGINES',
    'Comma list of addresses or CIDR ranges to which production accepts a connection without TLS. Every address that the host of an engine (or of `SMTP_URL`) resolves to at the start must be in it. Default: none.',
    '',
    ranges,
    { absent: () => [] },
  ),
  migrationDatabaseUrl: setting(
    'MIGRATION_DATABASE_URL',
    'PostgreSQL as the role that owns the tables; for `migrate`. Default: `DATABASE_URL`.',
    '',
    urlOf('postgres:', 'postgresql:'),
    { secret: true, ...optional },
  ),
  databaseServiceRole: setting(
    'DATABASE_SERVICE_ROLE',
    'Role that `migrate` grants the services their rights to. Default: the user of `DATABASE_URL`, when it is not the one that migrates.',
    '',
    text,
    optional,
  ),
  baseDomain: setting(
    'BASE_DOMAIN',
    'Base of the default environment: tenants at `<subdomain>.<base>`, tokens at `auth.<base>`. Default `localhost:<port>`.',
    '',
    host,
    optional,
  ),
  managementDomain: setting(
    'MANAGEMENT_DOMAIN',
    'Host of the management API. Default `management.<base>`.',
    '',
    host,
    optional,
  ),
  publicScheme: setting(
    'PUBLIC_SCHEME',
    'Scheme of all public addresses; production demands `https`.',
    'http',
    oneOf('http', 'https'),
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'Comma list of addresses or CIDR ranges whose `X-Forwarded-For`, `X-Forwarded-Host` and `traceparent` count.',
    '',
    addresses,
    { absent: () => [] },
  ),
  environments: setting(
    'ENVIRONMENTS',
    'JSON array of environments (`id`, `name`, `domain`, `authorizationServerDomain`, `deploymentModel`, `region`). Default: one, built from `BASE_DOMAIN`.',
    '',
    environments,
    optional,
  ),
  masterKey: setting(
    'MASTER_KEY',
    'Wraps the tenant keys: 32 bytes in base64url. In development made once in `DATA_DIR`; production refuses to start without.',
    '',
    key32,
    { secret: true, ...optional },
  ),
  masterKeyVersion: setting(
    'MASTER_KEY_VERSION',
    'Version of `MASTER_KEY`; raise it when rotating.',
    '1',
    integer(1, 1_000_000),
  ),
  previousMasterKey: setting(
    'MASTER_KEY_PREVIOUS',
    'The key before a rotation; tenant keys are rewrapped at start.',
    '',
    key32,
    { secret: true, ...optional },
  ),
  nextMasterKey: setting(
    'MASTER_KEY_NEXT',
    'The key of a rotation to come, version one higher: read with already, not yet used to wrap. For processes that are replaced in turn.',
    '',
    key32,
    { secret: true, ...optional },
  ),
  managementClientId: setting(
    'MANAGEMENT_CLIENT_ID',
    'The first management client; in development made once and written to `<DATA_DIR>/management-client.json`.',
    '',
    text,
    optional,
  ),
  managementClientSecret: setting(
    'MANAGEMENT_CLIENT_SECRET',
    'Secret of the first management client, at least 32 characters.',
    '',
    (s) => (s.length >= 32 ? s : fail('must have at least 32 characters')),
    { secret: true, ...optional },
  ),
  managementOidcIssuer: setting(
    'MANAGEMENT_OIDC_ISSUER',
    'Issuer of the OpenID provider whose access tokens (`typ: at+jwt`, RFC 9068) people present to the management API; its keys are found by discovery. Default: machine clients only.',
    '',
    httpUrl,
    optional,
  ),
  managementOidcAudience: setting(
    'MANAGEMENT_OIDC_AUDIENCE',
    'Audience of those access tokens. Default: the address of the management API.',
    '',
    text,
    optional,
  ),
  signIn: setting(
    'SIGN_IN',
    'The sign-in of people at `<first authorization host>/people`: `built-in`, or `none`. Needs all services in one process and no `MANAGEMENT_OIDC_ISSUER`. Default: `built-in` where it can be and `NODE_ENV` is not `production`.',
    '',
    oneOf('built-in', 'none'),
    optional,
  ),
  smtpUrl: setting(
    'SMTP_URL',
    'Mail server that e-mail is handed to: `smtp://` or `smtps://user:password@host:port`. Default: each e-mail is written to `<DATA_DIR>/mail`, and its path is logged.',
    '',
    urlOf('smtp:', 'smtps:'),
    { secret: true, ...optional },
  ),
  mailFrom: setting(
    'MAIL_FROM',
    'Sender of e-mail, `a@b.example` or `Name <a@b.example>`. Default: `attestry@` the management host.',
    '',
    mailAddress,
    optional,
  ),
  invitationUrl: setting(
    'INVITATION_URL',
    'Page that the links of invitations lead to; `?token=` is added. It calls `POST /v1/invitations/accept`. Default: the page of the built-in sign-in, `<scheme>://<first authorization host>/people/invitation`; without it `/invitation` there, which is for you to serve.',
    '',
    httpUrl,
    optional,
  ),
  contextUrl: setting(
    'CONTEXT_URL',
    'Address of the immutable JSON-LD context of this platform; its path must be `/v1`, and its host must reach the gateway. Default `<scheme>://contexts.<base>/v1`.',
    '',
    httpUrl,
    optional,
  ),
  allowPrivateTargets: setting(
    'ALLOW_PRIVATE_TARGETS',
    'Lifts the https, IP-literal, TLD and private-range rules for every outbound target. Refused in production.',
    'false',
    flag,
  ),
  dnsServers: setting(
    'DNS_SERVERS',
    'Comma list of DNS servers (`192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`) for names that tenants choose: custom domains, webhooks, `did:web`, contexts and authentication providers. Default: those of the system.',
    '',
    list(dnsServer),
    optional,
  ),
  adminPort: setting(
    'ADMIN_PORT',
    'Port of `/metrics`, `/health/live` and `/health/ready` for the operator; 0 takes a free one. Without it there are no metrics to read. Keep strangers away from it.',
    '',
    integer(0, 65535),
    optional,
  ),
  otlpEndpoint: setting(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base address of an OTLP/HTTP receiver of traces; `/v1/traces` is added. No traces without it.',
    '',
    httpUrl,
    optional,
  ),
  otlpHeaders: setting(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers for that receiver, `name=value` in a comma list, values percent-encoded, as the OpenTelemetry exporter reads it.',
    '',
    text,
    { secret: true, ...optional },
  ),
  traceRatio: setting('OTEL_TRACES_SAMPLER_ARG', 'Share of new traces that are kept, 0 to 1.', '1', share),
  logLevel: setting(
    'LOG_LEVEL',
    'Least level written to the log.',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  rateApi: setting('RATE_LIMIT_API', 'Calls per minute of one client.', '3000', perMinute),
  rateClientToken: setting(
    'RATE_LIMIT_CLIENT_TOKEN',
    'Token calls per minute of one client id; only calls with the right secret are counted.',
    '60',
    perMinute,
  ),
  rateClientTokenFailures: setting(
    'RATE_LIMIT_CLIENT_TOKEN_FAILURES',
    'Failed token calls (400, 401, 413, 415) per minute of one IPv4 address or IPv6 /64.',
    '20',
    perMinute,
  ),
  rateClientTokenFailures48: setting(
    'RATE_LIMIT_CLIENT_TOKEN_FAILURES_48',
    'Failed token calls per minute of one IPv6 /48.',
    '100',
    perMinute,
  ),
  rateWalletTenant: setting(
    'RATE_LIMIT_WALLET_TENANT',
    'Wallet calls (token, nonce, credential) per minute of one tenant.',
    '12000',
    perMinute,
  ),
  rateWalletAddress: setting('RATE_LIMIT_WALLET_ADDRESS', 'Wallet calls per minute of one address.', '600', perMinute),
  ratePublic: setting('RATE_LIMIT_PUBLIC', 'Calls of public documents per minute of one address.', '1200', perMinute),
  rateOverrides: setting(
    'RATE_LIMIT_TENANTS',
    'JSON object: tenant id to `{api, walletTenant, walletAddress, public}` that replace the above.',
    '{}',
    rateOverrides,
  ),
  clientTokenSeconds: setting('CLIENT_TOKEN_SECONDS', 'Life of a client access token.', '14400', integer(60, 86400)),
  tokenKeyDays: setting(
    'TOKEN_KEY_DAYS',
    'Age at which the key that signs client access tokens is replaced, days; 0: only on request.',
    '90',
    integer(0, 36500),
  ),
  tokenKeyLeadSeconds: setting(
    'TOKEN_KEY_LEAD_SECONDS',
    'How long a new key that signs client access tokens is published before it is used; where others verify tokens, more than the 300 s that a key set may be cached.',
    '600',
    integer(1, 604800),
  ),
  clientSecretOverlapSeconds: setting(
    'CLIENT_SECRET_OVERLAP_SECONDS',
    'How long the secret before stays good when a client gets a new one and the caller does not say.',
    '86400',
    integer(0, MAX_SECRET_OVERLAP_SECONDS),
  ),
  accessTokenSeconds: setting(
    'ACCESS_TOKEN_SECONDS',
    'Life of a wallet access token (OID4VCI section 13.10: more than 300 is long-lived).',
    '300',
    integer(30, 3600),
  ),
  walletRedirectUris: setting(
    'WALLET_REDIRECT_URIS',
    'Comma list of addresses (`redirect_uri`) that wallets may have codes and errors sent to, each compared as a whole. Default: none in `production`, where the authorization endpoint answers a page until this is set; otherwise any that is https, of this machine itself, or of a private-use scheme.',
    '',
    list((s) => (URL.canParse(s) ? s : fail(`${s} is not an address`))),
    optional,
  ),
  authorizationCodeSeconds: setting(
    'AUTHORIZATION_CODE_SECONDS',
    'Life of an authorization code (RFC 6749 section 4.1.2: at most 600).',
    '60',
    integer(10, 600),
  ),
  nonceSeconds: setting('NONCE_SECONDS', 'Life of a c_nonce.', '300', integer(10, 3600)),
  proofWindowSeconds: setting(
    'PROOF_WINDOW_SECONDS',
    'How far `iat` of a key proof may be from now.',
    '300',
    integer(10, 3600),
  ),
  requestTimeoutMs: setting(
    'REQUEST_TIMEOUT_MS',
    'Time in which a whole request, headers and body, must arrive, milliseconds; then it is a 408 and the connection is closed.',
    '30000',
    integer(100, 600_000),
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    'Open connections of the HTTP server at most.',
    '4096',
    integer(1, 1_000_000),
  ),
  maxConnectionsPerPeer: setting(
    'MAX_CONNECTIONS_PER_PEER',
    'Of these, connections of one IPv4 address or IPv6 /64 at most, `TRUSTED_PROXIES` excepted.',
    '512',
    integer(1, 1_000_000),
  ),
  maxRequestsInFlight: setting(
    'MAX_REQUESTS_IN_FLIGHT',
    'Requests of one client address (behind `TRUSTED_PROXIES` the forwarded one) in flight at most; beyond that 429.',
    '256',
    integer(1, 1_000_000),
  ),
  maxBodyBytesInFlight: setting(
    'MAX_BODY_BYTES_IN_FLIGHT',
    'Bytes of request bodies of one client address in flight at most; beyond that 429.',
    '8388608',
    integer(1_048_576, 1_073_741_824),
  ),
  operationTimeoutMs: setting(
    'OPERATION_TIMEOUT_MS',
    'Deadline of an operation, milliseconds.',
    '10000',
    integer(100, 120000),
  ),
  tenantPurgeDays: setting(
    'TENANT_PURGE_DAYS',
    'Days after its deletion that the keys and rows of a tenant are destroyed for good.',
    '30',
    integer(1, 3650),
  ),
  ownWriteMs: setting(
    'OWN_WRITE_WAIT_MS',
    'How long a write, or a list of events, waits until lists show what was acknowledged before it is answered, at most.',
    '250',
    integer(0, 10_000),
  ),
  operationEventsDays: setting('OPERATION_EVENTS_DAYS', 'Days analytics events are kept.', '400', integer(1, 36500)),
  loggingLevels: setting(
    'LOGGING_LEVEL_TENANTS',
    'JSON object: tenant id to the logging level of its analytics events: `1` metadata only (default), `2` data that is not sensitive, `3` everything but secrets.',
    '{}',
    loggingLevels,
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    'Time a webhook target has to answer, milliseconds.',
    '3000',
    integer(100, 30000),
  ),
  webhookRetrySeconds: setting(
    'WEBHOOK_RETRY_SECONDS',
    'Comma list: seconds before each retry; jitter is added.',
    '10,60,360',
    (s) => s.split(',').map((part) => integer(0, 86400)(part.trim())),
  ),
  webhookKeyDays: setting(
    'WEBHOOK_KEY_DAYS',
    'Age at which a key that signs webhooks is replaced, days; 0: only on request.',
    '365',
    integer(0, 36500),
  ),
  webhookKeyLeadSeconds: setting(
    'WEBHOOK_KEY_LEAD_SECONDS',
    'How long a new key that signs webhooks is published before it is used; more than the 300 s a key set may be cached.',
    '600',
    integer(301, 604800),
  ),
  webhookKeyOverlapSeconds: setting(
    'WEBHOOK_KEY_OVERLAP_SECONDS',
    'How long a replaced key stays published after its last signature, for receivers that verify later.',
    '86400',
    integer(600, 31_536_000),
  ),
} as const;

type Parsed = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> };

export interface PlatformConfigValues extends Omit<
  Parsed,
  'baseDomain' | 'managementDomain' | 'environments' | 'contextUrl' | 'invitationUrl' | 'signIn'
> {
  baseDomain: string;
  managementDomain: string;
  environments: EnvironmentConfig[];
  contextUrl: string;
  invitationUrl: string;
  signIn: 'built-in' | 'none';
}

/** Has each value as a property, none of which is named twice. */
const Values = class {
  constructor(values: PlatformConfigValues) {
    Object.assign(this, values);
  }
} as new (values: PlatformConfigValues) => PlatformConfigValues;

/** The parsed configuration; also its injection token. */
export class PlatformConfig extends Values {
  /** Safe to log: secrets are shown as `***`. */
  toJSON(): Record<string, unknown> {
    const out: Record<string, unknown> = {};
    for (const [name, { secret }] of Object.entries(SETTINGS)) {
      const value = (this as unknown as Record<string, unknown>)[name];
      out[name] = secret && value !== undefined ? '***' : value;
    }
    return out;
  }
  /** False where processes share engines and no folder: then nothing is handed over through files. */
  get hasDataFolder(): boolean {
    return this.natsServers === undefined;
  }
  /** Issuer of the built-in sign-in's tokens, and the address its pages begin with. */
  get signInIssuer(): string {
    return `${this.publicScheme}://${this.environments[0]!.authorizationServerDomain}/people`;
  }
  /** Audience of access tokens that people present. */
  get peopleAudience(): string {
    return this.managementOidcAudience ?? `${this.publicScheme}://${this.managementDomain}`;
  }
  get rates(): RateLimits {
    return {
      api: this.rateApi,
      walletTenant: this.rateWalletTenant,
      walletAddress: this.rateWalletAddress,
      public: this.ratePublic,
    };
  }
}
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly faults: string[]) {
    super(`configuration:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What a process reads its settings for. To migrate, nothing is needed but where the engines are. */
export type Purpose = 'run' | 'migrate';

/** Settings that were parsed; one with a fault is absent. */
export type ParsedSettings = Partial<Parsed>;

/**
 * Parses the environment. `port` is the port really bound when `PORT` is 0. What production refuses of engines is beside it, in
 * {@link loadConfig}.
 * @throws ConfigError naming every fault at once
 */
export const parseConfig = (env: Environment, port?: number, purpose: Purpose = 'run'): PlatformConfig => {
  const { faults, parsed } = readSettings(env, purpose);
  if (faults.length) throw new ConfigError(faults);
  return configOf(parsed as Parsed, port);
};

/** Every fault that shows without looking at anything but the environment. */
export const readSettings = (env: Environment, purpose: Purpose): { faults: string[]; parsed: ParsedSettings } => {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, declared] of Object.entries(SETTINGS)) {
    try {
      values[name] = declared.parse(env[declared.env]);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      faults.push(`${declared.env} ${error.message}`);
    }
  }
  const parsed = values as unknown as Parsed;
  if (parsed.nodeEnv === 'production' && purpose === 'run') {
    const { service } = parsed;
    if (!parsed.masterKey && service !== 'gateway')
      faults.push('MASTER_KEY is required in production: set 32 random bytes in base64url');
    if (parsed.publicScheme !== 'https')
      faults.push('PUBLIC_SCHEME must be https in production: let a proxy end TLS and list it in TRUSTED_PROXIES');
    if (parsed.managementOidcIssuer !== undefined && !parsed.managementOidcIssuer.startsWith('https:'))
      faults.push("MANAGEMENT_OIDC_ISSUER must be https in production: use the provider's https address");
    if (parsed.allowPrivateTargets)
      faults.push('ALLOW_PRIVATE_TARGETS is refused in production: remove it, and use public https targets');
    if (!parsed.baseDomain && !parsed.environments)
      faults.push('BASE_DOMAIN or ENVIRONMENTS is required in production: set the domain that tenants are below');
    if (
      (service === undefined || service === 'management') &&
      (!parsed.managementClientId || !parsed.managementClientSecret)
    )
      faults.push(
        'MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET are required in production: set them to a name and a random secret',
      );
  }
  if (!parsed.managementClientId !== !parsed.managementClientSecret)
    faults.push('MANAGEMENT_CLIENT_ID and MANAGEMENT_CLIENT_SECRET must be set together');
  if (purpose === 'run') faults.push(...sharedFaults(parsed));
  return { faults, parsed };
};

/** With the defaults that follow from other settings. */
const configOf = (parsed: Parsed, port: number | undefined): PlatformConfig => {
  const baseDomain = parsed.baseDomain ?? `localhost:${port ?? parsed.port}`;
  const environments = parsed.environments ?? [defaultEnvironment(baseDomain)];
  const signIn = parsed.signIn ?? defaultSignIn(parsed);
  return new PlatformConfig({
    ...parsed,
    ...(port !== undefined && { port }),
    baseDomain,
    managementDomain: parsed.managementDomain ?? `management.${baseDomain}`,
    environments,
    contextUrl: parsed.contextUrl ?? `${parsed.publicScheme}://contexts.${baseDomain}/v1`,
    signIn,
    invitationUrl:
      parsed.invitationUrl ??
      `${parsed.publicScheme}://${environments[0]!.authorizationServerDomain}${signIn === 'built-in' ? '/people' : ''}/invitation`,
  });
};

/** People need an issuer of their tokens; production has one by nobody's default. */
const defaultSignIn = ({ nodeEnv, natsServers, managementOidcIssuer }: Parsed): 'built-in' | 'none' =>
  nodeEnv !== 'production' && natsServers === undefined && managementOidcIssuer === undefined ? 'built-in' : 'none';

/** What cannot work, and what several processes must be told alike. */
const sharedFaults = (parsed: Parsed): string[] => {
  const faults: string[] = [];
  const need = (names: (keyof Parsed)[], why: string) => {
    for (const name of names) if (parsed[name] === undefined) faults.push(`${SETTINGS[name].env} is required ${why}`);
  };
  if (parsed.natsPassword !== undefined && parsed.natsUser === undefined) faults.push('NATS_PASSWORD needs NATS_USER');
  if (parsed.natsUser !== undefined && parsed.natsCredentialsFile !== undefined)
    faults.push('NATS_USER and NATS_CREDENTIALS_FILE exclude each other');
  if (!parsed.natsCertFile !== !parsed.natsKeyFile)
    faults.push('NATS_CERT_FILE and NATS_KEY_FILE must be set together');
  if (parsed.service !== undefined) need(['natsServers'], 'with SERVICE: a service alone reaches no other');
  if (parsed.keysDatabaseUrl !== undefined) need(['databaseUrl'], 'with KEYS_DATABASE_URL');
  if (parsed.signIn === 'built-in') {
    if (parsed.managementOidcIssuer !== undefined)
      faults.push('SIGN_IN=built-in and MANAGEMENT_OIDC_ISSUER exclude each other: people have one issuer');
    if (parsed.natsServers !== undefined)
      faults.push('SIGN_IN=built-in needs all services in one process: with NATS_URL set MANAGEMENT_OIDC_ISSUER');
  }
  if (parsed.natsServers === undefined) return faults;
  const why = 'with NATS_URL: several processes share it';
  const { service } = parsed;
  if (service === undefined || service === 'gateway' || service === 'issuance') need(['redisUrl'], why);
  if (service !== 'gateway') need(['databaseUrl', 'masterKey'], why);
  if (service === undefined || service === 'management')
    need(['managementClientId', 'managementClientSecret'], 'with NATS_URL: no data folder is shared');
  if (!parsed.baseDomain && !parsed.environments) faults.push('BASE_DOMAIN or ENVIRONMENTS is required with NATS_URL');
  return faults;
};

/** The environment of an installation that names none; its ids never change. */
const defaultEnvironment = (baseDomain: string): EnvironmentConfig => ({
  id: '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01',
  name: 'default',
  domain: baseDomain,
  authorizationServerDomain: `auth.${baseDomain}`,
  deploymentModel: 'public',
  region: { id: '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a02', name: 'local', displayName: 'Local' },
});
