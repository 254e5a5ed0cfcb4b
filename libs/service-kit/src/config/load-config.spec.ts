import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, SETTINGS } from './config.js';
import { inspectConfig, loadConfig } from './load-config.js';

const KEY = Buffer.alloc(32, 7).toString('base64url');
const folder = mkdtempSync(join(tmpdir(), 'attestry-config-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ONE_PROCESS = {
  NODE_ENV: 'production',
  PUBLIC_SCHEME: 'https',
  BASE_DOMAIN: 'example.com',
  MASTER_KEY: KEY,
  MANAGEMENT_CLIENT_ID: 'ops',
  MANAGEMENT_CLIENT_SECRET: 'x'.repeat(32),
  DATA_DIR: join(folder, 'data'),
};
const SERVICE = {
  ...ONE_PROCESS,
  SERVICE: 'issuance',
  NATS_URL: 'tls://nats:4222',
  NATS_USER: 'issuance',
  NATS_PASSWORD: 'nats-word',
  DATABASE_URL: 'postgres://attestry:database-word@db/attestry?sslmode=verify-full',
  REDIS_URL: 'rediss://:redis-word@cache',
  EVENTSTORE_URL: 'esdb://attestry:events-word@es:2113',
};

const ADDRESSES: Record<string, string[]> = {
  nats: ['10.0.0.5', '10.0.0.6'],
  db: ['10.0.0.7'],
  cache: ['10.0.0.8'],
  es: ['10.0.0.9'],
  mail: ['::ffff:10.0.0.10'],
  split: ['10.0.0.11', '192.0.2.1'],
  collector: ['fd00::1'],
};
const lookup = async (host: string) => {
  const found = ADDRESSES[host];
  if (!found) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  return found.map((address) => ({ address }));
};
const inspect = (env: Record<string, string>, more = {}) => inspectConfig(env, { lookup, tryServers: false, ...more });
const faultsOf = async (change: Record<string, string>, base: Record<string, string> = SERVICE) =>
  (await inspect({ ...base, ...change })).faults;

describe('engines in production', () => {
  it('are accepted with credentials, TLS and a NATS user per service', async () => {
    expect(await faultsOf({})).toEqual([]);
    expect(await faultsOf({}, ONE_PROCESS)).toEqual([]);
    await expect(loadConfig(SERVICE, { lookup, tryServers: false })).resolves.toMatchObject({ service: 'issuance' });
  });

  it.each([
    ['NATS_URL', { NATS_USER: '', NATS_PASSWORD: '' }],
    ['NATS_URL', { NATS_PASSWORD: '' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://db/attestry?sslmode=verify-full' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://attestry@db/attestry?sslmode=verify-full' }],
    ['KEYS_DATABASE_URL', { KEYS_DATABASE_URL: 'postgres://attestry@db/keys?sslmode=verify-full' }],
    ['MIGRATION_DATABASE_URL', { MIGRATION_DATABASE_URL: 'postgres://owner@db/attestry?sslmode=verify-full' }],
    ['REDIS_URL', { REDIS_URL: 'rediss://cache' }],
    ['REDIS_URL', { REDIS_URL: 'rediss://user@cache' }],
    ['EVENTSTORE_URL', { EVENTSTORE_URL: 'esdb://es:2113' }],
    // The client sends no credentials without TLS, so PLAINTEXT_ENGINES does not help.
    ['EVENTSTORE_URL', { EVENTSTORE_URL: 'esdb://u:p@es:2113?tls=false', PLAINTEXT_ENGINES: '10.0.0.0/8' }],
  ])('are refused without credentials: %s (%j)', async (setting, change) => {
    expect(await faultsOf(change)).toEqual([
      expect.stringMatching(new RegExp(`^${setting} has no credentials: (set|put) .{20}`)),
    ]);
  });

  it.each([
    ['NATS_CREDENTIALS_FILE', { NATS_CREDENTIALS_FILE: 'user.creds' }],
    ['a client certificate', { NATS_CERT_FILE: 'tls.crt', NATS_KEY_FILE: 'tls.key' }],
  ])('accept %s as the credentials of NATS', async (_, files) => {
    const paths = Object.fromEntries(Object.entries(files).map(([name, file]) => [name, join(folder, file)]));
    for (const file of Object.values(paths)) writeFileSync(file, 'x', { mode: 0o600 });
    expect(await faultsOf({ NATS_USER: '', NATS_PASSWORD: '', ...paths })).toEqual([]);
  });

  it('are refused when NATS has no user of the service', async () => {
    for (const NATS_USER of ['attestry', 'gateway', 'xissuance', 'issuance-gateway'])
      expect(await faultsOf({ NATS_USER })).toEqual([
        expect.stringMatching(new RegExp(`^NATS_USER ${NATS_USER} is not the user of issuance: use issuance, or `)),
      ]);
    for (const NATS_USER of ['issuance', 'acme-issuance', 'acme_issuance'])
      expect(await faultsOf({ NATS_USER })).toEqual([]);
    expect(await faultsOf({ SERVICE: '' })).toEqual([
      expect.stringMatching(/^NATS_URL is set without SERVICE: .*: set SERVICE/),
    ]);
    const migrate = { purpose: 'migrate', busUser: 'migrate' };
    expect((await inspect(SERVICE, migrate)).faults).toEqual([
      expect.stringMatching(/^NATS_USER issuance is not the user of migrate/),
    ]);
    expect((await inspect({ ...SERVICE, NATS_USER: 'migrate' }, migrate)).faults).toEqual([]);
  });

  const PLAIN: [setting: string, host: string, change: Record<string, string>][] = [
    ['NATS_URL', 'nats', { NATS_URL: 'nats://nats:4222' }],
    ['DATABASE_URL', 'db', { DATABASE_URL: 'postgres://a:b@db/attestry' }],
    ['DATABASE_URL', 'db', { DATABASE_URL: 'postgres://a:b@db/attestry?sslmode=disable' }],
    ['DATABASE_URL', 'db', { DATABASE_URL: 'postgres://a:b@db/attestry?sslmode=no-verify' }],
    ['DATABASE_URL', 'db', { DATABASE_URL: 'postgres://a:b@db/attestry?uselibpqcompat=true&sslmode=require' }],
    // The client connects to the host in the parameter.
    ['DATABASE_URL', 'db', { DATABASE_URL: 'postgres://a:b@other/attestry?host=db' }],
    ['KEYS_DATABASE_URL', 'db', { KEYS_DATABASE_URL: 'postgres://a:b@db/keys' }],
    ['MIGRATION_DATABASE_URL', 'db', { MIGRATION_DATABASE_URL: 'postgres://a:b@db/attestry' }],
    ['REDIS_URL', 'cache', { REDIS_URL: 'redis://:word@cache' }],
    ['SMTP_URL', 'mail', { SMTP_URL: 'smtp://a:b@mail:25' }],
    ['SMTP_URL', 'mail', { SMTP_URL: 'smtps://a:b@mail?tls.rejectUnauthorized=false' }],
    [
      'OTEL_EXPORTER_OTLP_ENDPOINT',
      'collector',
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_EXPORTER_OTLP_HEADERS: 'api-key=word' },
    ],
  ];
  it.each(PLAIN)(
    'are refused without verified TLS, except in PLAINTEXT_ENGINES: %s at %s (%j)',
    async (setting, host, change) => {
      const refused = new RegExp(
        `^${setting} connects without .* to ${host} \\(.*\\), which is not in PLAINTEXT_ENGINES: use `,
      );
      expect(await faultsOf(change)).toEqual([expect.stringMatching(refused)]);
      expect(await faultsOf({ ...change, PLAINTEXT_ENGINES: '172.16.0.0/12' })).toEqual([
        expect.stringMatching(refused),
      ]);
      expect(await faultsOf({ ...change, PLAINTEXT_ENGINES: '10.0.0.0/24, fd00::/8' })).toEqual([]);
    },
  );

  it('are refused when one of their addresses is outside the networks, or their name has none', async () => {
    const PLAINTEXT_ENGINES = '10.0.0.0/8';
    expect(await faultsOf({ REDIS_URL: 'redis://:word@split', PLAINTEXT_ENGINES })).toEqual([
      expect.stringContaining('REDIS_URL connects without TLS to split (192.0.2.1), which is not in'),
    ]);
    expect(await faultsOf({ REDIS_URL: 'redis://:word@unknown', PLAINTEXT_ENGINES })).toEqual([
      expect.stringContaining('REDIS_URL connects without TLS to unknown, which cannot be resolved (ENOTFOUND)'),
    ]);
    expect(await faultsOf({ NATS_URL: 'nats://nats:4222,nats://unknown:4222', PLAINTEXT_ENGINES })).toEqual([
      expect.stringContaining('NATS_URL connects without TLS to unknown, which cannot be resolved'),
    ]);
  });

  it('are refused when PLAINTEXT_ENGINES names every address or none, and a NATS URL contains a password', async () => {
    for (const PLAINTEXT_ENGINES of ['0.0.0.0/0', '::/0', 'engines'])
      expect(await faultsOf({ PLAINTEXT_ENGINES })).toEqual([expect.stringMatching(/^PLAINTEXT_ENGINES /)]);
    expect(await faultsOf({ NATS_URL: 'tls://issuance:word@nats:4222' })).toContainEqual(
      expect.stringMatching(/^NATS_URL must not contain credentials: use NATS_USER/),
    );
  });

  it('are refused with a key file that others can read or write, also behind a link', async () => {
    const real = join(folder, 'real.creds');
    writeFileSync(real, 'x');
    const link = join(folder, 'link.creds');
    symlinkSync(real, link);
    const creds = { NATS_USER: '', NATS_PASSWORD: '', NATS_CREDENTIALS_FILE: link };
    for (const mode of [0o644, 0o604, 0o602, 0o444]) {
      chmodSync(real, mode);
      expect(await faultsOf(creds)).toEqual([
        expect.stringMatching(
          /^NATS_URL has the key file .*link\.creds, which other users can (read|write) \(mode 0\d{3}\): chmod 0600 /,
        ),
      ]);
    }
    // Kubernetes mounts a Secret with these modes for a pod with fsGroup.
    for (const mode of [0o600, 0o400, 0o440, 0o640]) {
      chmodSync(real, mode);
      expect(await faultsOf(creds)).toEqual([]);
    }
    const missing = { ...creds, NATS_CREDENTIALS_FILE: join(folder, 'none.creds') };
    expect(await faultsOf(missing)).toEqual([expect.stringMatching(/cannot be read \(ENOENT\): correct the path/)]);

    const key = join(folder, 'db.key');
    writeFileSync(key, 'x', { mode: 0o644 });
    writeFileSync(join(folder, 'db.crt'), 'x');
    const DATABASE_URL = `postgres://attestry@db/attestry?sslmode=verify-full&sslcert=${join(folder, 'db.crt')}&sslkey=${key}`;
    expect(await faultsOf({ DATABASE_URL })).toEqual([
      expect.stringMatching(/^DATABASE_URL has the key file .*db\.key/),
    ]);
    chmodSync(key, 0o400);
    expect(await faultsOf({ DATABASE_URL })).toEqual([]);
  });

  it('are refused with a data folder that others can enter, or a master key in it that they can read', async () => {
    const DATA_DIR = join(folder, 'own');
    mkdirSync(DATA_DIR, { mode: 0o755 });
    expect(await faultsOf({ DATA_DIR }, ONE_PROCESS)).toEqual([
      expect.stringMatching(
        /^DATA_DIR has key files in a folder that other users can enter \(mode 0755\): chmod 0700 /,
      ),
    ]);
    chmodSync(DATA_DIR, 0o750);
    expect(await faultsOf({ DATA_DIR }, ONE_PROCESS)).toEqual([]);
    writeFileSync(join(DATA_DIR, 'master.key'), KEY, { mode: 0o644 });
    expect(await faultsOf({ DATA_DIR }, ONE_PROCESS)).toEqual([
      expect.stringMatching(/^DATA_DIR has the key file .*master\.key, which other users can read/),
    ]);
    // No engine of this process is a file.
    expect(await faultsOf({ DATA_DIR })).toEqual([]);
  });

  it('are refused when certificates are not verified', async () => {
    expect(await faultsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
      expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0 accepts the certificate of any server'),
    ]);
    expect(await faultsOf({ NODE_TLS_REJECT_UNAUTHORIZED: '1' })).toEqual([]);
    expect(await faultsOf({ NODE_ENV: 'development', NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([]);
  });

  it('are refused in one message with all other faults, and without a secret', async () => {
    const open = {
      ...SERVICE,
      PORT: 'none',
      MASTER_KEY: '',
      NATS_URL: 'nats://nats:4222',
      NATS_USER: 'attestry',
      REDIS_URL: 'redis://cache',
      DATABASE_URL: 'postgres://attestry:database-word@db/attestry',
      EVENTSTORE_URL: 'esdb://attestry:events-word@es:2113?tls=perhaps',
    };
    const error = await loadConfig(open, { lookup, tryServers: false }).then(
      () => undefined,
      (thrown: unknown) => thrown as Error,
    );
    expect(error).toBeInstanceOf(ConfigError);
    const settings = error!.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(' ')[0]);
    expect(settings.sort()).toEqual(
      // prettier-ignore
      ['DATABASE_URL', 'EVENTSTORE_URL', 'MASTER_KEY', 'MASTER_KEY', 'NATS_URL', 'NATS_USER', 'PORT', 'REDIS_URL', 'REDIS_URL'],
    );
    expect(error!.message).not.toMatch(/-word/);
    const secrets = Object.values(SETTINGS).flatMap(({ env, secret }) => (secret ? [env] : []));
    for (const env of secrets) {
      const { faults, passed } = await inspect({ ...SERVICE, [env]: 'secret-of-no-form' });
      expect([...faults, ...passed].join()).not.toContain('secret-of-no-form');
    }
  });

  it('are not checked outside production, except for an invalid NODE_ENV', async () => {
    const open = {
      ...SERVICE,
      NATS_USER: '',
      NATS_PASSWORD: '',
      NATS_URL: 'nats://nats:4222',
      REDIS_URL: 'redis://cache',
    };
    expect(await faultsOf({ ...open, NODE_ENV: 'development' })).toEqual([]);
    expect((await faultsOf({ ...open, NODE_ENV: 'prodution' })).length).toBeGreaterThan(3);
  });

  it('are checked without leaving files', async () => {
    await inspect(ONE_PROCESS);
    expect(existsSync(ONE_PROCESS.DATA_DIR)).toBe(false);
  });
});
