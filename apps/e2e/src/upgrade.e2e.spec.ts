/** @engines embedded */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gunzipSync } from 'node:zlib';
import {
  connectManagement,
  expectStatus,
  findPostgres,
  hostFetch,
  PLATFORM_START_MS,
  PostgresServer,
  repository,
  skipSuite,
  startPlatformProcess,
  waitUntil,
  type ManagementApi,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { command, postgresTool } from './commands.js';
import { EachFormat, inEachFormat } from './each-format.js';
import {
  allEntries,
  configurationsOf,
  KEPT,
  listsOf,
  tenantOn,
  type Recorded,
  type RecordedTenant,
} from './upgrade/history.js';

/** Data of each release, recorded by `upgrade/record-release.ts` of its commit. */
const FIXTURES = join(repository, 'apps/e2e/fixtures');
const RELEASES = ['0.2.0'];

const unpacked = async (file: string): Promise<Buffer> => gunzipSync(await readFile(`${file}.gz`));
const unpack = async (fixture: string, to: string): Promise<void> => {
  await mkdir(to, { mode: 0o700 });
  for (const name of await readdir(fixture))
    if (/\.db(-wal)?\.gz$/.test(name))
      await writeFile(
        join(to, name.slice(0, -'.gz'.length)),
        await unpacked(join(fixture, name.slice(0, -'.gz'.length))),
      );
};

const programs = findPostgres();
if (!programs) skipSuite('upgrading to PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');

/** A platform with the data of a release. */
class Upgraded {
  platform!: PlatformProcess;
  management!: ManagementApi;
  readonly tenants = new Map<string, TenantUnderTest>();

  constructor(readonly recorded: Recorded) {}

  async start(dataDir: string, settings: Record<string, string> = {}): Promise<void> {
    const { port, secrets, tenants } = this.recorded;
    const env = { ...secrets, PORT: String(port), OPERATION_EVENTS_DAYS: '36500', ...settings };
    this.platform = await startPlatformProcess({ dataDir, env, startTimeoutMs: PLATFORM_START_MS });
    const readiness = async () => (await hostFetch(`${this.platform.ready.management}/health/ready`)).status === 200;
    await waitUntil(readiness, { what: '/health/ready' });
    this.management = await connectManagement(this.platform, {
      client_id: secrets.MANAGEMENT_CLIENT_ID,
      client_secret: secrets.MANAGEMENT_CLIENT_SECRET,
    });
    for (const tenant of tenants) this.tenants.set(tenant.name, await tenantOn(this.platform, tenant));
  }

  tenant({ name }: RecordedTenant): TenantUnderTest {
    return this.tenants.get(name)!;
  }

  async expectLists(): Promise<void> {
    const { lists, tenants } = this.recorded;
    expect(await listsOf(this.management.client, Object.keys(lists))).toEqual(lists);
    for (const tenant of tenants)
      expect(await listsOf(this.tenant(tenant).api.client, Object.keys(tenant.lists))).toEqual(tenant.lists);
  }

  /** With their ids, order and times. */
  async expectEvents(): Promise<void> {
    for (const tenant of this.recorded.tenants) {
      const { id, events, managementEvents } = tenant;
      const until = (newest: { timestamp: string } | undefined) => ({ dateTo: newest!.timestamp });
      expect(await allEntries(this.tenant(tenant).api.client, '/v1/events', until(events[0]))).toEqual(events);
      const path = `/v1/tenants/${id}/events`;
      const listed = await allEntries(this.management.client, path, until(managementEvents[0]));
      expect(listed).toEqual(managementEvents);
    }
  }
}

const read = async (fixture: string): Promise<Recorded> =>
  JSON.parse(String(await unpacked(join(fixture, 'answers.json')))) as Recorded;

describe.each(RELEASES)('data of release %s', (release) => {
  let folder: string;
  const servers: PostgresServer[] = [];
  const startServer = async () => {
    servers.push(await PostgresServer.start(programs!));
    return servers.at(-1)!;
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-upgraded-'));
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await rm(folder, { recursive: true });
  });

  const engines = [
    ['in a folder', 'embedded', async () => ({})],
    [
      'in PostgreSQL',
      'postgres',
      async (fixture: string) => {
        const server = await startServer();
        const dump = join(folder, 'dump.sql');
        await writeFile(dump, await unpacked(join(fixture, 'dump.sql')), { mode: 0o644 });
        await postgresTool(programs!, 'psql', ['--quiet', '--set', 'ON_ERROR_STOP=1', '--file', dump, server.url()]);
        const database = { DATABASE_URL: server.url() };
        await command('migrate', [], database);
        return database;
      },
    ],
  ] as const;

  (programs ? describe.each(engines) : describe.each(engines.slice(0, 1)))('%s', (_where, name, prepare) => {
    const fixture = join(FIXTURES, release, name);
    const dataDir = () => join(folder, name);
    let upgraded: Upgraded;
    let settings: Record<string, string>;
    beforeAll(async () => {
      upgraded = new Upgraded(await read(fixture));
      settings = await prepare(fixture);
      await unpack(fixture, dataDir());
      await upgraded.start(dataDir(), settings);
    }, PLATFORM_START_MS);
    afterAll(() => upgraded.platform?.stop());

    it('has the same resources', () => upgraded.expectLists());

    it('has the same events, with their ids, order and times', () => upgraded.expectEvents());

    it('has the same events by filter', async () => {
      const [tenant] = upgraded.recorded.tenants as [RecordedTenant];
      const { events, client } = tenant;
      const dateTo = events[0]!.timestamp;
      const one = events.find(({ type }) => type === 'OPENID_CREDENTIAL_SUCCESS')!;
      const cases: [object, (event: (typeof events)[number]) => boolean][] = [
        [
          { types: ['USER_CREATE_START', 'USER_CREATE_SUCCESS'] },
          ({ type }) => /^USER_CREATE_(START|SUCCESS)$/.test(String(type)),
        ],
        [{ categories: ['did'] }, ({ category }) => category === 'did'],
        [{ clientIds: [client.clientId] }, ({ clientId }) => clientId === client.clientId],
        [{ clientIds: ['none'] }, ({ clientId }) => clientId === undefined],
        [{ requestIds: [one['requestId']] }, ({ requestId }) => requestId === one['requestId']],
        [{ ids: [one['id']] }, ({ id }) => id === one['id']],
      ];
      for (const [filter, fits] of cases) {
        const listed = await allEntries(upgraded.tenant(tenant).api.client, '/v1/events', { ...filter, dateTo });
        expect([filter, listed]).toEqual([filter, events.filter(fits)]);
      }
    });

    it('continues: users, deletions, and credentials of its configurations in each format', async () => {
      for (const recorded of upgraded.recorded.tenants) {
        const { kept, gone, holder, lists } = recorded;
        const tenant = upgraded.tenant(recorded);
        const { api } = tenant;
        expect(expectStatus(await api.users.retrieve(kept), 200).claims).toEqual(KEPT);
        expect((await api.users.retrieve(gone)).status).toBe(404);
        const formats = await EachFormat.of(tenant);
        const claims = { given_name: 'Grace' };
        expect(await formats.issue(configurationsOf(recorded), claims, { userId: holder })).toEqual(
          inEachFormat(claims),
        );
        const path = `/v1/users/${holder}/credentials`;
        const count = lists[path]!.length + recorded.configurations.length;
        await waitUntil(async () => (await allEntries(api.client, path)).length === count, {
          what: 'the new credentials',
        });
        expect((await api.users.delete(kept)).status).toBe(204);
        expect((await api.users.retrieve(kept)).status).toBe(404);
      }
    });

    if (name === 'embedded') {
      it('is backed up, and the platform continues from the backup', async () => {
        await command('backup', ['--from', dataDir(), '--to', join(folder, 'copy')]);
        const [tenant] = upgraded.recorded.tenants as [RecordedTenant];
        expect(await upgraded.platform.end()).toBe(0);
        await upgraded.start(join(folder, 'copy'));
        expect((await upgraded.tenant(tenant).api.users.retrieve(tenant.kept)).status).toBe(404);
        await upgraded.expectEvents();
      });

      (programs ? it : it.skip)(
        'is copied to PostgreSQL before it was ever started',
        async () => {
          const server = await startServer();
          const database = { DATABASE_URL: server.url(), DATABASE_SCHEMA: 'moved' };
          const { secrets } = upgraded.recorded;
          await command('migrate', [], { ...database, ...secrets });
          const [from, to] = [join(folder, 'untouched'), `${server.url()}?schema=moved`];
          await unpack(fixture, from);
          // The platform was stopped right after its last queries: their records are still in its feed.
          const words = ['--from', from, '--to', to, '--keys-from', from, '--keys-to', to, '--leave-unpublished'];
          const summary = JSON.parse(await command('copy-events', words, secrets)) as Record<string, unknown>;
          expect(summary).toMatchObject({ complete: true, keys: { secretsVerify: true }, events: { reordered: 0 } });
          expect(await upgraded.platform.end()).toBe(0);
          await upgraded.start(join(folder, 'beside'), database);
          const areListed = () =>
            upgraded.expectLists().then(
              () => true,
              () => false,
            );
          await waitUntil(areListed, { what: 'rows of the copied events' });
          await upgraded.expectLists();
          await upgraded.expectEvents();
        },
        PLATFORM_START_MS,
      );
    }
  });
});

describe('data of before the first release', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'attestry-before-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const lines = (error: unknown) => {
    const { code, stderr } = error as { code: number; stderr: string };
    return { code, lines: stderr.trimEnd().split('\n') };
  };
  const refusal = (where: string) =>
    `${where} has data of version 0.1.0, which no release from 0.2.0 on reads: export what you need with that version, ` +
    'and begin with an empty folder, schema and feed (docs/releases.md)';

  it('in a folder are refused in one line by a start and by copy-events, and stay as they are', async () => {
    const data = join(folder, 'data');
    await mkdir(data);
    const db = new DatabaseSync(join(data, 'events.db'));
    db.exec('PRAGMA journal_mode = WAL; CREATE TABLE events (position INTEGER PRIMARY KEY); PRAGMA user_version = 4');
    db.close();
    const before = await readFile(join(data, 'events.db'));
    const start = await command('main', [], { DATA_DIR: data, PORT: '0' }).catch(lines);
    expect(start).toEqual({ code: 1, lines: [refusal(data)] });
    const words = ['--from', data, '--to', join(folder, 'copy')];
    expect(await command('copy-events', words, {}).catch(lines)).toEqual({ code: 1, lines: [refusal(data)] });
    expect(await readdir(data)).toEqual(['events.db', 'lock.db']);
    expect(await readFile(join(data, 'events.db'))).toEqual(before);
  });

  (programs ? it : it.skip)('in a schema are refused by migrate, by a start and by copy-events', async () => {
    const server = await PostgresServer.start(programs!);
    try {
      const names = ['attestry', 'attestry_operations', 'attestry_read', 'attestry_analytics', 'attestry_keys'];
      const sql = names.map(
        (schema) =>
          `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.schema_versions (component text, version integer);
           INSERT INTO ${schema}.schema_versions VALUES ('any', 3);`,
      );
      await postgresTool(programs!, 'psql', ['--quiet', '--command', sql.join(''), server.url()]);
      const oneOf = names.map((schema) => refusal(`the schema ${schema}`));
      const database = { DATABASE_URL: server.url() };
      const refused = (result: unknown) => {
        expect(result).toMatchObject({ code: 1 });
        expect(oneOf).toContain((result as ReturnType<typeof lines>).lines.at(-1));
      };
      refused(await command('migrate', [], database).catch(lines));
      const settings = { ...database, DATA_DIR: join(folder, 'beside'), PORT: '0' };
      refused(await command('main', [], settings).catch(lines));
      const words = ['--from', `${server.url()}?schema=attestry`, '--to', join(folder, 'other')];
      refused(await command('copy-events', words).catch(lines));
    } finally {
      await server.stop();
    }
  });
});
