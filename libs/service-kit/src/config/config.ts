import { isIP } from 'node:net';
import { LOGGING_LEVELS, MAX_SECRET_OVERLAP_SECONDS, SERVICE_NAMES, type LoggingLevel } from '@attestry/contracts';
import type { RequiredClaims } from './required-claims.js';

/**
 * Configuration: declared once, parsed once from the environment into one typed object, all faults reported together,
 * secrets redacted. docs/reference/configuration.md is generated from {@link SETTINGS}.
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
  /** Text in configuration.md. */
  default: string;
  secret?: boolean;
  parse(text: string | undefined): T;
}

class Fault extends Error {}
const fail = (message: string): never => {
  throw new Fault(message);
};

const setting = <T>(env: string, about: string, defaultText: string, parse: (text: string) => T): Setting<T> => ({
  env,
  about,
  default: defaultText,
  parse: (given) => parse(given || defaultText),
});

const text = (s: string) => s;
/** Has no default value: `undefined` unless it is set. */
const optional = <T = string>(
  env: string,
  about: string,
  parse: (text: string) => T = (s) => s as T,
): Setting<T | undefined> => ({
  env,
  about,
  default: '',
  parse: (given) => (given ? parse(given) : undefined),
});
/** An optional setting that is never shown. */
const secret = <T = string>(...declared: Parameters<typeof optional<T>>): Setting<T | undefined> => ({
  ...optional(...declared),
  secret: true,
});
const integer = (min: number, max: number) => (s: string) => {
  const n = /^\d{1,12}$/.test(s) ? Number(s) : NaN;
  return n >= min && n <= max ? n : fail(`must be an integer from ${min} to ${max}`);
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
    : fail('must be a host name in lower case, with a port unless it is the default port of the scheme');
const httpUrl = (s: string) => {
  const url = URL.canParse(s) ? new URL(s) : undefined;
  return url && /^https?:$/.test(url.protocol) ? s : fail('must be an http or https URL');
};
const mailAddress = (s: string) =>
  /^(?:[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u.test(s)
    ? s
    : fail('must be an e-mail address: a@b.example or Name <a@b.example>');
/** A URL with one of these schemes; the client of the engine validates the rest. */
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
const addresses = list((part) => {
  const [address, bits, ...rest] = part.split('/');
  const family = isIP(address ?? '');
  const max = family === 4 ? 32 : 128;
  return family && !rest.length && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= max))
    ? part
    : fail(`must contain only IP addresses and CIDR ranges: ${part} is neither`);
});

/** Ranges of private networks; `/0` would be every address. */
const ranges = (s: string) => {
  const given = addresses(s);
  const all = given.find((part) => /\/0+$/.test(part));
  return all === undefined
    ? given
    : fail(`must not contain ${all}, which is every address: set the networks of the engines`);
};

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const environments = (s: string): EnvironmentConfig[] => {
  let list: unknown;
  try {
    list = JSON.parse(s);
  } catch {
    return fail('must be JSON');
  }
  if (!Array.isArray(list) || !list.length) return fail('must be a non-empty JSON array');
  const seen = new Set<string>();
  return list.map((entry: EnvironmentConfig, i) => {
    const at = `[${i}]`;
    if (!UUID.test(entry?.id)) fail(`${at}.id must be a UUID`);
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
      fail(`${at}.region must have id (a UUID), name and displayName`);
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
  /** Bytes written. */
  bytesMinute: number;
  bytesDay: number;
}
/** A JSON object by tenant id; `entry` parses each value. */
const perTenant =
  <T>(what: string, entry: (value: unknown) => T) =>
  (s: string): Record<string, T> => {
    let value: unknown;
    try {
      value = JSON.parse(s);
    } catch {
      // reported below
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return fail(`must be a JSON object from tenant ids to ${what}`);
    return Object.fromEntries(
      Object.entries(value).map(([tenantId, one]) => [
        UUID.test(tenantId) ? tenantId : fail(`must have tenant ids (UUIDs) as names: ${tenantId} is not one`),
        entry(one),
      ]),
    );
  };

/** Number of members of a value, with those of its parts. */
const membersOf = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce<number>((sum, one) => sum + membersOf(one), 0) +
      (Array.isArray(value) ? 0 : Object.keys(value).length);

/** A JSON object, of which no name occurs twice: JSON.parse would drop the first one without a word. */
const jsonObject = (s: string, what: string): Record<string, unknown> => {
  let value: unknown;
  try {
    value = JSON.parse(s);
  } catch {
    // reported below
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail(`must be a JSON object ${what}`);
  const colons = s.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  return colons === membersOf(value) ? (value as Record<string, unknown>) : fail('must not have a name twice');
};

/** Claims that differ from one token to the next, and those that are checked in any case. */
const CLAIMS_OF_TOKENS = ['iss', 'aud', 'exp', 'iat', 'nbf', 'jti', 'auth_time'];
/** RFC 9470 §3: values are separated by spaces, in a quoted string (RFC 9110 §5.6.4). */
const ACR_VALUE = /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/;

const requiredClaims = (s: string): RequiredClaims => {
  const value = jsonObject(s, 'from names of claims to lists of allowed values');
  for (const [name, allowed] of Object.entries(value)) {
    if (CLAIMS_OF_TOKENS.includes(name))
      fail(`must not have ${name}: it differs from one access token to the next, or is checked in any case`);
    if (!Array.isArray(allowed) || allowed.length === 0)
      fail(`must have a list of at least one allowed value for ${name}`);
    if (name === 'acr' && !(allowed as unknown[]).every((one) => typeof one === 'string' && ACR_VALUE.test(one)))
      fail('must have texts of printable ASCII without spaces, quotation marks and backslashes for acr');
  }
  return value as RequiredClaims;
};

/** `host:port` with the ids of tenants. */
export type ProviderHosts = Readonly<Record<string, readonly string[]>>;

const providerHosts = (s: string): ProviderHosts => {
  const value = jsonObject(s, 'from host:port to lists of tenant ids');
  for (const [name, tenants] of Object.entries(value)) {
    const [, hostname, port] = /^([a-z0-9.-]+):([1-9]\d{0,4})$/.exec(name) ?? [];
    // The same host and port is found in it where an address is read: `127.1:443` is another one.
    const url = URL.canParse(`https://${name}/`) ? new URL(`https://${name}/`) : undefined;
    if (hostname === undefined || url?.hostname !== hostname || (url.port || '443') !== port)
      fail(`must have names such as sso.example.com:8443, a host in lower case and its port: ${name} is not one`);
    if (isIP(hostname!) || /(?:^|\.)localhost\.?$/.test(hostname!))
      fail(`must have host names: ${name} is an address, or this machine`);
    if (!Array.isArray(tenants) || tenants.length === 0) fail(`must have a list of tenant ids for ${name}`);
    const wrong = (tenants as unknown[]).find((id) => typeof id !== 'string' || !UUID.test(id));
    if (wrong !== undefined) fail(`must have tenant ids (UUIDs) for ${name}: ${JSON.stringify(wrong)} is not one`);
    if (new Set(tenants as unknown[]).size < (tenants as unknown[]).length)
      fail(`must have each tenant id once for ${name}`);
  }
  return value as ProviderHosts;
};

const RATES: readonly (keyof RateLimits)[] = [
  'api',
  'walletTenant',
  'walletAddress',
  'public',
  'bytesMinute',
  'bytesDay',
];
const rateOverrides = perTenant('limits', (value): Partial<RateLimits> => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return fail('must have an object of limits for each tenant');
  for (const [name, limit] of Object.entries(value)) {
    if (!RATES.includes(name as keyof RateLimits))
      fail(`must have only the limits ${RATES.join(', ')}: ${name} is not one of them`);
    if (!Number.isInteger(limit) || (limit as number) < 1) fail(`must have integers of at least 1: ${name} is not`);
  }
  return value;
});

const loggingLevels = perTenant('1, 2 or 3', (value): LoggingLevel =>
  (LOGGING_LEVELS as readonly unknown[]).includes(value)
    ? (value as LoggingLevel)
    : fail(`must have levels 1, 2 or 3: ${String(value)} is not one of them`),
);

/** A limit per minute. */
const rate = (env: string, about: string, defaultText: string) =>
  setting(env, about, defaultText, integer(1, 1_000_000_000));

/** Format of `dns.setServers`: an address, with a port unless it is 53; an IPv6 address with a port is in brackets. */
const dnsServer = (s: string) => {
  const [, v6, v6Port] = /^\[([0-9a-fA-F:.]+)\](?::(\d{1,5}))?$/.exec(s) ?? [];
  const [, v4, v4Port] = /^([0-9.]+)(?::(\d{1,5}))?$/.exec(s) ?? [];
  const port = Number(v6Port ?? v4Port ?? 53);
  const isAddress = isIP(v6 ?? '') === 6 || isIP(v4 ?? '') === 4 || isIP(s) === 6;
  return isAddress && port >= 1 && port <= 65535
    ? s
    : fail(`must contain only IP addresses, each with or without a port: ${s} is not one`);
};

/** Every environment variable. */
export const SETTINGS = {
  nodeEnv: setting(
    'NODE_ENV',
    'Environment of the process. `production` rejects settings that are only suitable for development.',
    'development',
    oneOf('development', 'test', 'production'),
  ),
  port: setting('PORT', 'Port of the HTTP server. 0: any free port.', '8080', integer(0, 65535)),
  host: setting('HOST', 'Address the HTTP server binds to.', '127.0.0.1', text),
  dataDir: setting('DATA_DIR', 'Data folder of the embedded engines.', '.attestry', text),
  service: optional(
    'SERVICE',
    `Service that this process runs: ${['gateway', ...SERVICE_NAMES].map((name) => `\`${name}\``).join(', ')}. Default: all of them in one process.`,
    oneOf('gateway', ...SERVICE_NAMES),
  ),
  shutdownDelay: setting(
    'SHUTDOWN_DELAY',
    'Delay in seconds between reporting not ready at shutdown and closing connections, so that load balancers stop sending requests.',
    '0',
    integer(0, 300),
  ),
  natsServers: optional(
    'NATS_URL',
    'Comma-separated list of NATS servers (`nats://host:port` or `tls://host:port`), which are the message bus between processes. Default: an embedded bus in this process.',
    list((s) =>
      s.includes('@')
        ? fail('must not contain credentials: use NATS_USER and NATS_PASSWORD, or NATS_CREDENTIALS_FILE')
        : urlOf('nats:', 'tls:')(s),
    ),
  ),
  natsUser: optional(
    'NATS_USER',
    'User name at the NATS servers, usually the name of the service (see the NATS guide).',
  ),
  natsPassword: secret('NATS_PASSWORD', 'Password of `NATS_USER`.'),
  natsCredentialsFile: optional(
    'NATS_CREDENTIALS_FILE',
    'Path of a NATS `.creds` file, as an alternative to `NATS_USER` and `NATS_PASSWORD`.',
  ),
  natsCaFile: optional(
    'NATS_CA_FILE',
    'Path of the CA certificates (PEM) with which certificates of the NATS servers are verified.',
  ),
  natsCertFile: optional('NATS_CERT_FILE', 'Path of the client certificate (PEM) for the NATS servers.'),
  natsKeyFile: optional('NATS_KEY_FILE', 'Path of the private key (PEM) of `NATS_CERT_FILE`.'),
  natsNamespace: setting(
    'NATS_NAMESPACE',
    'Prefix of subjects, streams and buckets, so that several installations can share NATS servers.',
    'attestry',
    (s) => (/^[A-Za-z0-9_-]+$/.test(s) ? s : fail('must contain only letters, digits, - and _')),
  ),
  natsReplicas: optional(
    'NATS_REPLICAS',
    'Replicas of streams and buckets in a NATS cluster; used by `npm run migrate`, which lowers them only with `MIGRATION_ALLOWS`. Default: 1 for new ones, and no change of existing ones.',
    integer(1, 5),
  ),
  eventStoreUrl: secret(
    'EVENTSTORE_URL',
    'EventStoreDB (KurrentDB) for events, for example `esdb://user:password@host:2113?tls=true`. Default: PostgreSQL at `DATABASE_URL`, or else a file in `DATA_DIR`.',
    urlOf('esdb:', 'esdb+discover:', 'kurrentdb:', 'kurrentdb+discover:'),
  ),
  eventStorePrefix: optional(
    'EVENTSTORE_PREFIX',
    'Prefix of the names of all streams in EventStoreDB, so that several installations can share a server. Default: none.',
    (s) => (/^[A-Za-z0-9_]+$/.test(s) ? s : fail('must contain only letters, digits and _')),
  ),
  databaseUrl: secret(
    'DATABASE_URL',
    'PostgreSQL for read models, keys, leases and, without `EVENTSTORE_URL`, events. Its user is the role of the services. Default: files in `DATA_DIR`.',
    urlOf('postgres:', 'postgresql:'),
  ),
  databaseSchema: setting(
    'DATABASE_SCHEMA',
    'Schema of events and leases. The names of the other schemas are this name with a suffix (`_operations`, `_read`, `_analytics`, `_keys`).',
    'attestry',
    (s) =>
      /^[a-z_][a-z0-9_]{0,28}$/.test(s)
        ? s
        : fail('must have at most 29 lower-case letters, digits and _, and must not start with a digit'),
  ),
  databasePool: setting(
    'DATABASE_POOL',
    'Maximum number of PostgreSQL connections of one process for each schema.',
    '10',
    integer(1, 200),
  ),
  keysDatabaseUrl: secret(
    'KEYS_DATABASE_URL',
    'Separate PostgreSQL for keys. Default: `DATABASE_URL`.',
    urlOf('postgres:', 'postgresql:'),
  ),
  redisUrl: secret(
    'REDIS_URL',
    'Redis or Valkey for rate limits and single-use values (`redis://` or `rediss://`). Its `maxmemory-policy` must be `noeviction`, otherwise the process does not start. Default: rate limits in memory, single-use values in a file in `DATA_DIR`.',
    urlOf('redis:', 'rediss:'),
  ),
  plaintextEngines: setting(
    'PLAINTEXT_ENGINES',
    'Comma-separated list of IP addresses or CIDR ranges of engines that may be connected to without TLS in production. Every address that the host of such an engine (or of `SMTP_URL`) resolves to at startup must be in the list. Default: none.',
    '',
    ranges,
  ),
  migrationDatabaseUrl: secret(
    'MIGRATION_DATABASE_URL',
    'PostgreSQL with the role that owns the tables; used by `npm run migrate`. Default: `DATABASE_URL`.',
    urlOf('postgres:', 'postgresql:'),
  ),
  databaseServiceRole: optional(
    'DATABASE_SERVICE_ROLE',
    'PostgreSQL role of the services, to which `npm run migrate` grants their privileges. Default: the user of `DATABASE_URL`, unless it is also the user that migrates.',
  ),
  migrationAllows: setting(
    'MIGRATION_ALLOWS',
    'Comma-separated list of what `npm run migrate` may do although it loses redundancy, or keeps personal data longer: `fewer-replicas` lowers the replicas of streams and buckets to `NATS_REPLICAS`, `longer-retention` lengthens the retention of the audit trail in PostgreSQL to `OPERATION_EVENTS_DAYS`. Default: neither; the migration prints what it did not change.',
    '',
    list(oneOf('fewer-replicas', 'longer-retention')),
  ),
  baseDomain: optional(
    'BASE_DOMAIN',
    'Base domain of the default environment: tenants have the host `<subdomain>.<base>`, the token endpoint has the host `auth.<base>`. Default: `localhost:<port>`.',
    host,
  ),
  managementDomain: optional('MANAGEMENT_DOMAIN', 'Host of the management API. Default: `management.<base>`.', host),
  publicScheme: setting(
    'PUBLIC_SCHEME',
    'Scheme of all public addresses. Must be `https` in production.',
    'http',
    oneOf('http', 'https'),
  ),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'Comma-separated list of IP addresses or CIDR ranges of proxies whose headers `X-Forwarded-For`, `X-Forwarded-Host` and `traceparent` are trusted. Default: none.',
    '',
    addresses,
  ),
  environments: optional(
    'ENVIRONMENTS',
    'JSON array of environments (`id`, `name`, `domain`, `authorizationServerDomain`, `deploymentModel`, `region`). Default: one environment with the domain `BASE_DOMAIN`.',
    environments,
  ),
  masterKey: secret(
    'MASTER_KEY',
    'Master key that encrypts the keys of tenants: 32 bytes in base64url. Required in production. Default in development: generated once in `DATA_DIR`.',
    key32,
  ),
  masterKeyVersion: setting(
    'MASTER_KEY_VERSION',
    'Version of `MASTER_KEY`. Increase it by one with each rotation.',
    '1',
    integer(1, 1_000_000),
  ),
  previousMasterKey: secret(
    'MASTER_KEY_PREVIOUS',
    'Previous master key during a rotation. Keys of tenants are re-encrypted with `MASTER_KEY` at startup.',
    key32,
  ),
  nextMasterKey: secret(
    'MASTER_KEY_NEXT',
    'Next master key, with a version one higher than `MASTER_KEY_VERSION`. It is used to decrypt but not to encrypt, so that processes can be replaced one after another during a rotation.',
    key32,
  ),
  managementClientId: optional(
    'MANAGEMENT_CLIENT_ID',
    'Client id of the first management client. Required in production. Default in development: generated once and written to `<DATA_DIR>/management-client.json`.',
  ),
  managementClientSecret: secret(
    'MANAGEMENT_CLIENT_SECRET',
    'Client secret of the first management client, at least 32 characters.',
    (s) => (s.length >= 32 ? s : fail('must have at least 32 characters')),
  ),
  managementOidcIssuer: optional(
    'MANAGEMENT_OIDC_ISSUER',
    'Issuer URL of the OpenID provider whose access tokens (`typ: at+jwt`, RFC 9068) the management API accepts from users. Its keys are found by discovery. Default: none; the management API accepts management clients and, with `SIGN_IN=built-in`, users of the built-in sign-in.',
    httpUrl,
  ),
  managementOidcAudience: optional(
    'MANAGEMENT_OIDC_AUDIENCE',
    'Required audience of access tokens of users. Default: the address of the management API.',
  ),
  managementOidcRequiredClaims: setting(
    'MANAGEMENT_OIDC_REQUIRED_CLAIMS',
    'Claims that access tokens of users must have: a JSON object from names to lists of allowed values, for example `{"acr": ["2"], "amr": ["mfa"]}`. Values are compared as JSON; of an array one element must be allowed. Otherwise the answer is 401 `insufficient_user_authentication` (RFC 9470). Requires `MANAGEMENT_OIDC_ISSUER`.',
    '{}',
    requiredClaims,
  ),
  signIn: optional(
    'SIGN_IN',
    '`built-in` serves a sign-in for users of the management API at `<first authorization host>/people`; `none` does not. `built-in` requires all services in one process and no `MANAGEMENT_OIDC_ISSUER`. Default: `built-in` if these requirements are met and `NODE_ENV` is not `production`.',
    oneOf('built-in', 'none'),
  ),
  smtpUrl: secret(
    'SMTP_URL',
    'Mail server for outgoing e-mail (`smtp://user:password@host:port` or `smtps://…`). Default: each e-mail is written to `<DATA_DIR>/mail`, and its path is logged.',
    urlOf('smtp:', 'smtps:'),
  ),
  mailFrom: optional(
    'MAIL_FROM',
    'Sender of e-mail: `a@b.example` or `Name <a@b.example>`. Default: `attestry@<management host>`.',
    mailAddress,
  ),
  invitationUrl: optional(
    'INVITATION_URL',
    'Page to which links in invitations lead, with `?token=` appended. It calls `POST /v1/invitations/accept`. Default: the page of the built-in sign-in, `<scheme>://<first authorization host>/people/invitation`, or, without the built-in sign-in, `<scheme>://<first authorization host>/invitation`, which the operator must serve.',
    httpUrl,
  ),
  contextUrl: optional(
    'CONTEXT_URL',
    'URL of the immutable JSON-LD context of the platform. Its path must be `/v1`, and its host must resolve to the gateway. Default: `<scheme>://contexts.<base>/v1`.',
    httpUrl,
  ),
  allowPrivateTargets: setting(
    'ALLOW_PRIVATE_TARGETS',
    '`true` allows outbound requests to http URLs, IP addresses, unknown top-level domains and private networks. Rejected in production.',
    'false',
    flag,
  ),
  outboundPorts: setting(
    'OUTBOUND_PORTS',
    'Comma-separated list of the ports at which the addresses of authentication providers may be, for example `443,8443`. Port 443, that of an address without a port, is always allowed.',
    '443',
    list(integer(1, 65535)),
  ),
  providerHosts: setting(
    'PROVIDER_HOSTS',
    'Hosts of authentication providers that may have addresses of private networks: a JSON object from `host:port` to lists of tenant ids, for example `{"sso.example.com:8443": ["<tenant id>"]}`. Host and port must be equal to those of the address, port 443 included; any port is allowed. Each inner host of `url` and of the endpoints in the discovery document must be listed. Loopback and link-local addresses, metadata services of cloud providers and addresses of the engines that the process connects to are refused for them too.',
    '{}',
    providerHosts,
  ),
  dnsServers: optional(
    'DNS_SERVERS',
    'Comma-separated list of DNS servers (`192.0.2.1`, `192.0.2.1:5353`, `[2001:db8::1]:53`) for host names that tenants choose: custom domains, webhooks, `did:web`, JSON-LD contexts, authentication providers and claims sources. Default: the DNS servers of the system.',
    list(dnsServer),
  ),
  adminPort: optional(
    'ADMIN_PORT',
    'Port of `/metrics`, `/health/live` and `/health/ready` for the operator, which must not be reachable from untrusted networks. 0: any free port. Default: none; then a process with the gateway serves no metrics. Processes without the gateway serve these paths on `PORT`.',
    integer(0, 65535),
  ),
  otlpEndpoint: optional(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'Base URL of an OTLP/HTTP receiver for traces; `/v1/traces` is appended. Default: no traces are exported.',
    httpUrl,
  ),
  otlpHeaders: secret(
    'OTEL_EXPORTER_OTLP_HEADERS',
    'Headers of requests to the OTLP receiver: a comma-separated list of `name=value` with percent-encoded values, as defined by OpenTelemetry.',
  ),
  traceRatio: setting('OTEL_TRACES_SAMPLER_ARG', 'Share of new traces to export, from 0 to 1.', '1', share),
  logLevel: setting(
    'LOG_LEVEL',
    'Minimum level of logged messages.',
    'info',
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
  rateApi: rate('RATE_LIMIT_API', 'Maximum calls per minute of one client or one person.', '3000'),
  rateClientToken: rate(
    'RATE_LIMIT_CLIENT_TOKEN',
    'Maximum token and revocation calls per minute of one client id, and token exchanges of one person. Only calls with the correct secret or token are counted.',
    '60',
  ),
  rateClientTokenFailures: rate(
    'RATE_LIMIT_CLIENT_TOKEN_FAILURES',
    'Maximum failed token and revocation calls (400, 401, 413, 415) per minute of one IPv4 address or IPv6 /64 network.',
    '20',
  ),
  rateClientTokenFailures48: rate(
    'RATE_LIMIT_CLIENT_TOKEN_FAILURES_48',
    'Maximum failed token and revocation calls per minute of one IPv6 /48 network.',
    '100',
  ),
  rateWalletTenant: rate(
    'RATE_LIMIT_WALLET_TENANT',
    'Maximum wallet calls per minute of one tenant: authorization with consent and callbacks, pushed authorization requests, token, revocation, challenge, nonce, credential, deferred credential and notification. Calls that are refused for their address or network are not counted. Pushed authorization requests may be a quarter of the calls.',
    '12000',
  ),
  rateWalletAddress: rate(
    'RATE_LIMIT_WALLET_ADDRESS',
    'Maximum wallet calls per minute of one IPv4 address or IPv6 /64 network to one tenant; five times as many of one IPv6 /48 network. Pushed authorization requests may be a quarter of the calls.',
    '600',
  ),
  ratePublic: rate(
    'RATE_LIMIT_PUBLIC',
    'Maximum requests for public documents per minute of one IPv4 address or IPv6 /64 network.',
    '1200',
  ),
  bytesMinute: setting(
    'WRITE_LIMIT_MINUTE',
    'Maximum bytes per minute that the clients of one tenant write: events, and claims of offers until they end; they get 429 beyond it. Its wallets may write four times as much.',
    '67108864',
    integer(1, 999_999_999_999),
  ),
  bytesDay: setting(
    'WRITE_LIMIT_DAY',
    'Maximum bytes per day that clients and wallets of one tenant write together; a quarter as much again is kept for wallets.',
    '8589934592',
    integer(1, 999_999_999_999),
  ),
  rateOverrides: setting(
    'RATE_LIMIT_TENANTS',
    'Limits of individual tenants: a JSON object from tenant ids to objects with `api`, `walletTenant`, `walletAddress`, `public`, `bytesMinute` or `bytesDay`, which override the limits above.',
    '{}',
    rateOverrides,
  ),
  clientTokenSeconds: setting(
    'CLIENT_TOKEN_SECONDS',
    'Lifetime of an access token of a client, in seconds.',
    '14400',
    integer(60, 86400),
  ),
  tokenKeyDays: setting(
    'TOKEN_KEY_DAYS',
    'Age in days at which the key that signs access tokens of clients is rotated. 0: only by `npm run rotate-token-keys`.',
    '90',
    integer(0, 36500),
  ),
  tokenKeyLeadSeconds: setting(
    'TOKEN_KEY_LEAD_SECONDS',
    'Seconds for which a new key for access tokens of clients is published before it signs. Must be more than the 300 s for which the key set may be cached, if third parties verify tokens.',
    '600',
    integer(1, 604800),
  ),
  clientSecretOverlapSeconds: setting(
    'CLIENT_SECRET_OVERLAP_SECONDS',
    'Seconds for which the previous secret of a client stays valid after a rotation, unless the call sets `overlapSeconds`.',
    '86400',
    integer(0, MAX_SECRET_OVERLAP_SECONDS),
  ),
  accessTokenSeconds: setting(
    'ACCESS_TOKEN_SECONDS',
    'Lifetime of an access token of a wallet, in seconds. Tokens of more than 300 s are long-lived in the sense of OID4VCI section 13.10.',
    '300',
    integer(30, 3600),
  ),
  dpopAccessTokenSeconds: setting(
    'DPOP_ACCESS_TOKEN_SECONDS',
    'Lifetime of an access token of a wallet that is bound to a DPoP key (RFC 9449), in seconds.',
    '900',
    integer(30, 3600),
  ),
  walletRedirectUris: optional(
    'WALLET_REDIRECT_URIS',
    'Comma-separated list of redirect URIs that wallets may use without being registered, for tenants that have no wallet and never set `allowUnregisteredWallets`; each must match exactly. Register the wallets instead: each use is reported once per tenant in the log.',
    list((s) => (URL.canParse(s) ? s : fail(`must contain only URIs: ${s} is not one`))),
  ),
  authorizationCodeSeconds: setting(
    'AUTHORIZATION_CODE_SECONDS',
    'Lifetime of an authorization code, in seconds (RFC 6749 section 4.1.2: at most 600).',
    '60',
    integer(10, 600),
  ),
  nonceSeconds: setting(
    'NONCE_SECONDS',
    'Lifetime of a `c_nonce` and of a DPoP nonce, in seconds.',
    '300',
    integer(10, 3600),
  ),
  proofWindowSeconds: setting(
    'PROOF_WINDOW_SECONDS',
    'Maximum difference between `iat` of a key proof and the current time, in seconds.',
    '300',
    integer(10, 3600),
  ),
  requestTimeoutMs: setting(
    'REQUEST_TIMEOUT_MS',
    'Milliseconds within which a request must be received completely, with headers and body. After that the response is 408 and the connection is closed.',
    '30000',
    integer(100, 600_000),
  ),
  maxConnections: setting(
    'MAX_CONNECTIONS',
    'Maximum open connections of the HTTP server.',
    '4096',
    integer(1, 1_000_000),
  ),
  maxConnectionsPerPeer: setting(
    'MAX_CONNECTIONS_PER_PEER',
    'Maximum open connections of one IPv4 address or IPv6 /64 network. Does not apply to `TRUSTED_PROXIES`.',
    '512',
    integer(1, 1_000_000),
  ),
  maxRequestsInFlight: setting(
    'MAX_REQUESTS_IN_FLIGHT',
    'Maximum requests in flight of one client address, which behind `TRUSTED_PROXIES` is the forwarded address. Further requests get 429.',
    '256',
    integer(1, 1_000_000),
  ),
  maxBodyBytesInFlight: setting(
    'MAX_BODY_BYTES_IN_FLIGHT',
    'Maximum bytes of request bodies in flight of one client address. Further requests get 429.',
    '8388608',
    integer(1_048_576, 1_073_741_824),
  ),
  maxCallsInFlight: setting(
    'MAX_CALLS_IN_FLIGHT',
    'Maximum calls with an access token in flight of the clients of one tenant, of its members, and of one client or user of the management API, per process. Further calls get 429. Calls of wallets do not count.',
    '64',
    integer(1, 1_000_000),
  ),
  maxUnreadBytes: setting(
    'MAX_UNREAD_BYTES',
    'Maximum bytes of responses that one client address, which behind `TRUSTED_PROXIES` is the forwarded address, has not read. Further requests get 429.',
    '16777216',
    integer(1_048_576, 1_073_741_824),
  ),
  maxUnreadBytesTotal: setting(
    'MAX_UNREAD_BYTES_TOTAL',
    'Maximum bytes of responses of the HTTP server that clients have not read. Beyond it responses of the client address with the most are ended.',
    '134217728',
    integer(1_048_576, 17_179_869_184),
  ),
  unreadTimeoutMs: setting(
    'UNREAD_TIMEOUT_MS',
    'Milliseconds without a byte read by the client after which a response is ended and its connection closed.',
    '10000',
    integer(100, 600_000),
  ),
  operationTimeoutMs: setting(
    'OPERATION_TIMEOUT_MS',
    'Deadline of an operation, in milliseconds.',
    '10000',
    integer(100, 120000),
  ),
  tenantPurgeDays: setting(
    'TENANT_PURGE_DAYS',
    'Days after the deletion of a tenant at which its keys and the rows of its read models are destroyed permanently.',
    '30',
    integer(1, 3650),
  ),
  ownWriteMs: setting(
    'OWN_WRITE_WAIT_MS',
    'Maximum time in milliseconds that a write, or a list that wallets and deliveries change too, waits until the read models contain all acknowledged changes.',
    '250',
    integer(0, 10_000),
  ),
  operationEventsDays: optional(
    'OPERATION_EVENTS_DAYS',
    'Days for which analytics events are kept. If it is set, `npm run migrate` shortens the retention in PostgreSQL to this value, and lengthens it only with `MIGRATION_ALLOWS`. Default: 400; an existing retention in PostgreSQL is not changed.',
    integer(1, 36500),
  ),
  loggingLevels: setting(
    'LOGGING_LEVEL_TENANTS',
    'Logging levels of the analytics events of tenants: a JSON object from tenant ids to `1` (metadata only, the default), `2` (also data that is not sensitive) or `3` (everything except secrets).',
    '{}',
    loggingLevels,
  ),
  webhookTimeoutMs: setting(
    'WEBHOOK_TIMEOUT_MS',
    'Milliseconds within which a webhook target must respond.',
    '3000',
    integer(100, 30000),
  ),
  webhookRetrySeconds: setting(
    'WEBHOOK_RETRY_SECONDS',
    'Comma-separated list of the delays before each retry of a webhook delivery, in seconds; jitter is added.',
    '10,60,360',
    (s) => s.split(',').map((part) => integer(0, 86400)(part.trim())),
  ),
  tenantKeyDays: setting(
    'TENANT_KEY_DAYS',
    'Age in days at which a key that signs webhooks, or by which a tenant authenticates at its authentication provider (`private_key_jwt`), is rotated. 0: only by `POST /v1/webhooks/jwks/rotate`, and keys for providers never.',
    '365',
    integer(0, 36500),
  ),
  tenantKeyLeadSeconds: setting(
    'TENANT_KEY_LEAD_SECONDS',
    'Seconds for which a new key for webhooks or authentication providers is published before it signs. Must be more than the 300 s for which the key set may be cached.',
    '600',
    integer(301, 604800),
  ),
  tenantKeyOverlapSeconds: setting(
    'TENANT_KEY_OVERLAP_SECONDS',
    'Seconds for which a previous key stays published after its last signature, for receivers and authentication providers that verify later.',
    '86400',
    integer(600, 31_536_000),
  ),
} as const;

/**
 * Settings that `npm run migrate` reads; the Helm chart gives the migration these settings wherever they are configured. A test compares
 * the list with what the migration reads.
 */
export const MIGRATION_SETTINGS = [
  'nodeEnv',
  'natsServers',
  'natsUser',
  'natsPassword',
  'natsCredentialsFile',
  'natsCaFile',
  'natsCertFile',
  'natsKeyFile',
  'natsNamespace',
  'natsReplicas',
  'eventStoreUrl',
  'databaseUrl',
  'databaseSchema',
  'databasePool',
  'keysDatabaseUrl',
  'plaintextEngines',
  'migrationDatabaseUrl',
  'databaseServiceRole',
  'migrationAllows',
  'operationEventsDays',
] as const satisfies readonly (keyof typeof SETTINGS)[];

/** Environment variables of {@link MIGRATION_SETTINGS}. */
export const MIGRATION_VARIABLES: readonly string[] = MIGRATION_SETTINGS.map((name) => SETTINGS[name].env);

type Parsed = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> };

export interface PlatformConfigValues extends Omit<
  Parsed,
  'baseDomain' | 'managementDomain' | 'environments' | 'contextUrl' | 'invitationUrl' | 'signIn' | 'operationEventsDays'
> {
  operationEventsDays: number;
  /** `undefined`: `operationEventsDays` is the default. A migration applies only what was set. */
  operationEventsDaysGiven: number | undefined;
  baseDomain: string;
  managementDomain: string;
  environments: EnvironmentConfig[];
  contextUrl: string;
  invitationUrl: string;
  signIn: 'built-in' | 'none';
}

/** Has each value as a property, so that no property is declared twice. */
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
  /** False if processes share engines but no folder: then nothing is exchanged through files. */
  get hasDataFolder(): boolean {
    return this.natsServers === undefined;
  }
  /** Issuer of the built-in sign-in's tokens, and the base address of its pages. */
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
      bytesMinute: this.bytesMinute,
      bytesDay: this.bytesDay,
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

/** Purpose for which the settings are read. `migrate` needs only the settings of the engines. */
export type Purpose = 'run' | 'migrate';

/** Settings that were parsed; one with a fault is absent. */
export type ParsedSettings = Partial<Parsed>;

/**
 * Parses the environment. `port` is the bound port if `PORT` is 0. {@link loadConfig} also rejects the engines that are
 * not allowed in production.
 * @throws ConfigError naming every fault at once
 */
export const parseConfig = (env: Environment, port?: number, purpose: Purpose = 'run'): PlatformConfig => {
  const { faults, parsed } = readSettings(env, purpose);
  if (faults.length) throw new ConfigError(faults);
  return configOf(parsed as Parsed, port, purpose);
};

/** Every fault that can be found in the environment alone. */
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
      faults.push('PUBLIC_SCHEME must be https in production: terminate TLS at a proxy and add it to TRUSTED_PROXIES');
    if (parsed.managementOidcIssuer !== undefined && !parsed.managementOidcIssuer.startsWith('https:'))
      faults.push("MANAGEMENT_OIDC_ISSUER must be https in production: use the provider's https address");
    if (parsed.allowPrivateTargets)
      faults.push('ALLOW_PRIVATE_TARGETS must not be true in production: remove it, and use public https targets');
    if (!parsed.baseDomain && !parsed.environments)
      faults.push(
        'BASE_DOMAIN or ENVIRONMENTS is required in production: set the domain of which tenants are subdomains',
      );
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

/** Adds the defaults that derive from other settings. */
const configOf = (parsed: Parsed, port: number | undefined, purpose: Purpose): PlatformConfig => {
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
    // The chart gives the migration no password of the services' role.
    databaseUrl: parsed.databaseUrl ?? (purpose === 'migrate' ? parsed.migrationDatabaseUrl : undefined),
    operationEventsDays: parsed.operationEventsDays ?? 400,
    operationEventsDaysGiven: parsed.operationEventsDays,
    invitationUrl:
      parsed.invitationUrl ??
      `${parsed.publicScheme}://${environments[0]!.authorizationServerDomain}${signIn === 'built-in' ? '/people' : ''}/invitation`,
  });
};

/** Users need an issuer of their tokens; production has no default for it. */
const defaultSignIn = ({ nodeEnv, natsServers, managementOidcIssuer }: Parsed): 'built-in' | 'none' =>
  nodeEnv !== 'production' && natsServers === undefined && managementOidcIssuer === undefined ? 'built-in' : 'none';

/** Combinations that cannot work, and settings that several processes must share. */
const sharedFaults = (parsed: Parsed): string[] => {
  const faults: string[] = [];
  const need = (names: (keyof Parsed)[], why: string) => {
    for (const name of names) if (parsed[name] === undefined) faults.push(`${SETTINGS[name].env} is required ${why}`);
  };
  if (parsed.natsPassword !== undefined && parsed.natsUser === undefined)
    faults.push('NATS_PASSWORD requires NATS_USER');
  if (parsed.natsUser !== undefined && parsed.natsCredentialsFile !== undefined)
    faults.push('NATS_USER and NATS_CREDENTIALS_FILE must not be set together');
  if (!parsed.natsCertFile !== !parsed.natsKeyFile)
    faults.push('NATS_CERT_FILE and NATS_KEY_FILE must be set together');
  if (parsed.service !== undefined)
    need(['natsServers'], 'with SERVICE: services in separate processes communicate over NATS');
  if (parsed.keysDatabaseUrl !== undefined) need(['databaseUrl'], 'with KEYS_DATABASE_URL');
  if (Object.keys(parsed.managementOidcRequiredClaims ?? {}).length > 0)
    need(['managementOidcIssuer'], 'with MANAGEMENT_OIDC_REQUIRED_CLAIMS');
  if (parsed.signIn === 'built-in') {
    if (parsed.managementOidcIssuer !== undefined)
      faults.push('SIGN_IN=built-in and MANAGEMENT_OIDC_ISSUER must not be set together: users have one issuer');
    if (parsed.natsServers !== undefined)
      faults.push(
        'SIGN_IN=built-in requires all services in one process: with NATS_URL, set MANAGEMENT_OIDC_ISSUER instead',
      );
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

/** The environment of an installation without `ENVIRONMENTS`; its ids never change. */
const defaultEnvironment = (baseDomain: string): EnvironmentConfig => ({
  id: '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a01',
  name: 'default',
  domain: baseDomain,
  authorizationServerDomain: `auth.${baseDomain}`,
  deploymentModel: 'public',
  region: { id: '7a1c3a52-6f0e-4a49-9d0b-3f1f5d0c9a02', name: 'local', displayName: 'Local' },
});
