/** @engines embedded */
import { randomBytes } from 'node:crypto';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  findPostgres,
  hostFetch,
  PostgresServer,
  restoreKeys,
  skipSuite,
  startPlatformProcess,
  waitUntil,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { command, postgresTool } from './commands.js';
import { issue, makeIssuer } from './journey.js';

const key = () => randomBytes(32).toString('base64url');
const secrets = {
  MASTER_KEY: key(),
  MANAGEMENT_CLIENT_ID: 'operator',
  MANAGEMENT_CLIENT_SECRET: randomBytes(24).toString('hex'),
};
const credentials = { client_id: secrets.MANAGEMENT_CLIENT_ID, client_secret: secrets.MANAGEMENT_CLIENT_SECRET };
const claims = { given_name: 'Ada' };
let folder: string;
const platforms: PlatformProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'attestry-restored-'));
});
afterEach(async () => {
  await Promise.all(platforms.splice(0).map((platform) => platform.stop()));
  await rm(folder, { recursive: true });
});

const start = async (env: Record<string, string> = {}, port?: number): Promise<PlatformProcess> => {
  const at = { ...secrets, ...env, ...(port !== undefined && { PORT: String(port) }) };
  const platform = await startPlatformProcess({ env: at, startTimeoutMs: 60_000 });
  platforms.push(platform);
  await untilReady(platform);
  return platform;
};
const untilReady = (platform: PlatformProcess) =>
  waitUntil(async () => (await hostFetch(`${platform.ready.management}/health/ready`)).status === 200, {
    what: '/health/ready',
  });
const newUser = async ({ api }: TenantUnderTest) => expectStatus(await api.users.create({ claims }), 201).id;
const usersOf = async ({ api }: TenantUnderTest) =>
  expectStatus(await api.users.list(), 200)
    .data.map(({ id }) => id)
    .sort();

describe('the data folder', () => {
  const isLive = (file: string, id: string): number => {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return (db.prepare('SELECT live FROM data_keys WHERE id = ?').get(id) as { live: number }).live;
    } finally {
      db.close();
    }
  };

  it('is backed up while the platform runs, and the platform continues from the backup', async () => {
    const first = await start({ DATA_DIR: join(folder, 'data') });
    const tenant = await createTenantUnderTest(first, await connectManagement(first, credentials), 'backup');
    const issuer = await makeIssuer(tenant);
    const offer = { credentials: [issuer.jwtVc], claims: { given_name: 'Ada', note: 'x' } };
    await issue(tenant, offer);
    const [kept, deleted] = [await newUser(tenant), await newUser(tenant)];
    // A development installation has these files.
    const inClear: Record<string, string> = {
      'master.key': secrets.MASTER_KEY,
      'management-client.json': JSON.stringify(credentials),
    };
    for (const [name, text] of Object.entries(inClear)) await writeFile(join(folder, 'data', name), text);
    // While it works.
    const working = Promise.all(Array.from({ length: 20 }, () => issue(tenant, offer)));
    const copied = JSON.parse(
      await command('backup', ['--from', join(folder, 'data'), '--to', join(folder, 'copy')]),
    ) as {
      files: string[];
    };
    expect(copied.files).toEqual(expect.arrayContaining(['events.db', 'operations.db', 'feed.db']));
    // Only databases: no secret in plain text.
    const copies = await readdir(join(folder, 'copy'));
    expect(copies.sort()).toEqual([...copied.files].sort());
    for (const name of copies) {
      expect(name).toMatch(/\.db$/);
      const bytes = await readFile(join(folder, 'copy', name), 'latin1');
      for (const text of [secrets.MASTER_KEY, secrets.MANAGEMENT_CLIENT_SECRET]) expect(bytes).not.toContain(text);
    }
    await working;
    const later = await newUser(tenant);
    expect((await tenant.api.users.delete(deleted)).status).toBe(204);
    expect(await first.end()).toBe(0);

    // All data, unchanged.
    await cp(join(folder, 'copy'), join(folder, 'restored'), { recursive: true });
    const restored = await start({ DATA_DIR: join(folder, 'restored') }, first.ready.port);
    const then = await usersOf(tenant);
    expect(then).toEqual(expect.arrayContaining([kept, deleted]));
    expect(then).not.toContain(later);
    await issue(tenant, offer);
    expect(await restored.end()).toBe(0);

    // Only the keys, from before the deletion: it is applied again before the platform is ready.
    const keys = join(folder, 'data', 'events.db');
    restoreKeys(keys, join(folder, 'copy', 'events.db'));
    expect(isLive(keys, deleted)).toBe(1);
    await start({ DATA_DIR: join(folder, 'data') }, first.ready.port);
    expect(isLive(keys, deleted)).toBe(0);
    expect(isLive(keys, kept)).toBe(1);
    expect(await usersOf(tenant)).not.toContain(deleted);
  }, 180_000);
});

const programs = findPostgres();
if (!programs) skipSuite('restoring PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');
(programs ? describe : describe.skip)('restoring PostgreSQL', () => {
  let postgres: PostgresServer;
  beforeAll(async () => {
    postgres = await PostgresServer.start(programs!);
  }, 60_000);
  afterAll(() => postgres?.stop());

  const at = (name: string) => postgres.url().replace(/postgres$/, name);
  const sql = (database: string, text: string) =>
    postgresTool(programs!, 'psql', ['--no-psqlrc', '-qtA', '-v', 'ON_ERROR_STOP=1', '-d', at(database), '-c', text]);
  const database = async (name: string) => {
    await sql('postgres', `CREATE DATABASE ${name}`);
    const env = { DATABASE_URL: at(name), DATA_DIR: join(folder, name) };
    await command('migrate', [], { ...secrets, ...env });
    return env;
  };
  /** Restores one schema. */
  const restoreSchema = async (name: string, schema: string, file: string) => {
    await sql(name, `DROP SCHEMA ${schema} CASCADE; CREATE SCHEMA ${schema}`);
    await postgresTool(programs!, 'pg_restore', ['--exit-on-error', '-n', schema, '-d', at(name), file]);
  };

  it('is dumped while the platform runs; erasures are replayed on older keys, older events are refused', async () => {
    const env = await database('one');
    const first = await start(env);
    const tenant = await createTenantUnderTest(first, await connectManagement(first, credentials), 'dumped');
    const issuer = await makeIssuer(tenant);
    const offer = { credentials: [issuer.jwtVc], claims: { given_name: 'Ada', note: 'x' } };
    const [kept, deleted] = [await newUser(tenant), await newUser(tenant)];
    await waitUntil(async () => (await usersOf(tenant)).length === 2);
    const dump = join(folder, 'one.dump');
    const working = Promise.all(Array.from({ length: 10 }, () => issue(tenant, offer)));
    await postgresTool(programs!, 'pg_dump', ['--format=custom', '--file', dump, at('one')]);
    await working;
    expect((await tenant.api.users.delete(deleted)).status).toBe(204);
    const { port } = first.ready;
    expect(await first.end()).toBe(0);
    const isLive = (id: string) => sql('one', `SELECT live FROM attestry_keys.data_keys WHERE id = '${id}'`);
    expect(await isLive(deleted)).toBe('f\n');

    // Keys from before the deletion.
    await restoreSchema('one', 'attestry_keys', dump);
    expect(await isLive(deleted)).toBe('t\n');
    const second = await start(env, port);
    expect([await isLive(deleted), await isLive(kept)]).toEqual(['f\n', 't\n']);
    expect(await second.end()).toBe(0);

    // Events from before what was made of them.
    await restoreSchema('one', 'attestry', dump);
    const refused: unknown = await start(env, port).catch((error: unknown) => error);
    expect(String(refused)).toMatch(
      /checkpoint \d+ of [\w.-]+ is beyond the head of the event store, \d+.*Delete the read models/,
    );
    await sql('one', 'DROP SCHEMA attestry_read, attestry_analytics CASCADE');
    await command('migrate', [], { ...secrets, ...env });
    const third = await start(env, port);
    // The older events know of no deletion, but the younger keys do: users without a key are not shown.
    expect(await usersOf(tenant)).toContain(kept);
    expect(await usersOf(tenant)).not.toContain(deleted);
    await issue(tenant, offer);
    expect(await third.end()).toBe(0);

    // All data, in a separate database.
    await sql('postgres', 'CREATE DATABASE two');
    await postgresTool(programs!, 'pg_restore', ['--exit-on-error', '-d', at('two'), dump]);
    const whole = await start({ DATABASE_URL: at('two'), DATA_DIR: join(folder, 'two') }, port);
    expect(await usersOf(tenant)).toEqual(expect.arrayContaining([kept, deleted]));
    await issue(tenant, offer);
    expect(await whole.end()).toBe(0);
  }, 240_000);

  it('can rotate its master key while the platform runs, and no longer needs the old one', async () => {
    const env = await database('rotated');
    const [old, next] = [secrets.MASTER_KEY, key()];
    const platform = await start({ ...env, MASTER_KEY_NEXT: next });
    const tenant = await createTenantUnderTest(platform, await connectManagement(platform, credentials), 'rotating');
    const issuer = await makeIssuer(tenant);
    const offer = { credentials: [issuer.jwtVc], claims: { given_name: 'Ada', note: 'x' } };
    const changed = { ...secrets, ...env, MASTER_KEY: next, MASTER_KEY_VERSION: '2', MASTER_KEY_PREVIOUS: old };
    // It has the new key: everything is rewrapped while it runs.
    const rotation = JSON.parse(await command('rotate-master-key', [], changed)) as { tenantKeys: { all: number } };
    expect(rotation).toMatchObject({ version: 2, peppers: { rewrapped: 1, all: 1 } });
    expect(rotation.tenantKeys.all).toBeGreaterThanOrEqual(2);
    await issue(tenant, offer);
    const { port } = platform.ready;
    expect(await platform.end()).toBe(0);
    const after = await start({ ...env, MASTER_KEY: next, MASTER_KEY_VERSION: '2' }, port);
    await issue(tenant, offer);
    expect(await after.end()).toBe(0);
    await expect(start(env, port)).rejects.toThrow(/needs MASTER_KEY version 2/);
    await expect(command('rotate-master-key', [], { ...env })).rejects.toMatchObject({
      stderr: expect.stringContaining('set MASTER_KEY to the new key'),
    });
  }, 180_000);
});
