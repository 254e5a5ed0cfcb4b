/** @engines embedded */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { AnalyticsEvent, ClientCredentials, UserCredential } from '@attestry/contracts';
import {
  clientToken,
  connectManagement,
  expectStatus,
  findPostgres,
  hostFetch,
  PLATFORM_START_MS,
  PostgresServer,
  repository,
  skipSuite,
  startPlatformProcess,
  TenantApi,
  waitUntil,
  type Answer,
  type ManagementApi,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { command } from './commands.js';
import { issue } from './journey.js';

/** A data folder that the platform made at commit 9519c29, and what that platform then answered. */
const FIXTURE = join(repository, 'apps/e2e/fixtures/data-9519c29');

interface Recorded {
  /** In the hosts of the tenants, which are in what is stored. */
  port: number;
  secrets: Record<'MASTER_KEY' | 'MANAGEMENT_CLIENT_ID' | 'MANAGEMENT_CLIENT_SECRET', string>;
  tenants: RecordedTenant[];
  listed: { id: string }[];
}
interface RecordedTenant {
  name: string;
  id: string;
  client: ClientCredentials;
  issuer: { jwtVc: string; webSemantic: string };
  /** User with claims. */
  kept: string;
  /** Deleted user. */
  gone: string;
  /** User who collected a credential. */
  issuedUser: string;
  webhookId?: string;
  /** Newest first, as the lists of the following members were. */
  events: AnalyticsEvent[];
  managementEvents: AnalyticsEvent[];
  dids: object[];
  jwtVc: object[];
  webSemantic: object[];
  webhooks: object[];
  attempts: object[];
  credentials: object[];
  clients: { permissions: string[] }[];
}
interface Page {
  data: unknown[];
  nextCursor?: string;
}

const all = async (list: (query: { limit: number; cursor?: string }) => Promise<Answer<Page>>): Promise<unknown[]> => {
  const found: unknown[] = [];
  for (let cursor: string | undefined; ;) {
    const page = expectStatus(await list({ limit: 20, ...(cursor !== undefined && { cursor }) }), 200);
    found.push(...page.data);
    if (page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
};

const unpack = async (to: string): Promise<void> => {
  await mkdir(to);
  for (const name of await readdir(FIXTURE)) {
    if (!name.endsWith('.gz')) continue;
    const bytes = gunzipSync(await readFile(join(FIXTURE, name)));
    await writeFile(join(to, name.slice(0, -'.gz'.length)), bytes);
  }
};

const programs = findPostgres();
if (!programs) skipSuite('upgrading to PostgreSQL', 'PostgreSQL is not installed (Debian: apt install postgresql)');

describe('a data folder of an earlier version', () => {
  let recorded: Recorded;
  let folder: string;
  let platform: PlatformProcess;
  let management: ManagementApi;
  let postgres: PostgresServer | undefined;
  const tenants = new Map<string, TenantUnderTest>();

  const start = async (dataDir: string, settings: Record<string, string> = {}): Promise<PlatformProcess> => {
    const kept = { PORT: String(recorded.port), OPERATION_EVENTS_DAYS: '36500' };
    const env = { ...recorded.secrets, ...kept, ...settings };
    const started = await startPlatformProcess({ dataDir, env, startTimeoutMs: PLATFORM_START_MS });
    await waitUntil(async () => (await hostFetch(`${started.ready.management}/health/ready`)).status === 200, {
      what: '/health/ready',
    });
    return started;
  };
  const connect = async () => {
    const { MANAGEMENT_CLIENT_ID, MANAGEMENT_CLIENT_SECRET } = recorded.secrets;
    const credentials = { client_id: MANAGEMENT_CLIENT_ID, client_secret: MANAGEMENT_CLIENT_SECRET };
    management = await connectManagement(platform, credentials);
    for (const { name, id, client } of recorded.tenants) {
      const url = platform.tenantUrl(name);
      const token = await clientToken(platform, url, client);
      tenants.set(name, { id, url, host: new URL(url).host, admin: client, token, api: new TenantApi(url, token) });
    }
  };
  beforeAll(async () => {
    recorded = JSON.parse(await readFile(join(FIXTURE, 'answers.json'), 'utf8')) as Recorded;
    folder = await mkdtemp(join(tmpdir(), 'attestry-upgraded-'));
    await unpack(join(folder, 'data'));
    platform = await start(join(folder, 'data'));
    // Their keys and single-use values are in the file of the events now.
    const moved = (await readdir(join(folder, 'data'))).filter((name) => /^(keys|replay)\.db/.test(name));
    expect(moved).toEqual([]);
    await connect();
  }, PLATFORM_START_MS);
  afterAll(async () => {
    await platform?.stop();
    await postgres?.stop();
    await rm(folder, { recursive: true });
  });

  const resources = async ({ name, id, webhookId, issuedUser }: RecordedTenant) => {
    const { api } = tenants.get(name)!;
    return {
      dids: await all((query) => api.dids.list(query)),
      jwtVc: await all((query) => api.jwtVc.list(query)),
      webSemantic: await all((query) => api.webSemantic.list(query)),
      webhooks: await all((query) => api.webhooks.list(query)),
      attempts: webhookId ? await all((query) => api.webhooks.attempts(webhookId, query)) : [],
      credentials: await all((query) => api.users.credentials(issuedUser, query)),
      clients: await all((query) => management.clients.list(id, query)),
    };
  };

  const listsAsBefore = async () => {
    const added = { restrictIdentityRoles: false };
    const listed = await all((query) => management.tenants.list(query));
    expect(listed).toEqual(recorded.listed.map((tenant) => ({ ...tenant, ...added })));
    for (const tenant of recorded.tenants) {
      const { dids, jwtVc, webSemantic, webhooks, attempts, credentials, clients } = tenant;
      // Later versions add permissions to roles.
      const withPermissions = clients.map(({ permissions, ...client }) => ({
        ...client,
        permissions: expect.arrayContaining(permissions) as string[],
      }));
      const before = { dids, jwtVc, webSemantic, webhooks, attempts, credentials, clients: withPermissions };
      expect(await resources(tenant)).toEqual(before);
    }
  };

  const eventsAsBefore = async () => {
    for (const { name, id, events, managementEvents } of recorded.tenants) {
      const { api } = tenants.get(name)!;
      const until = (newest: AnalyticsEvent | undefined) => ({ dateTo: newest!.timestamp });
      expect(await all((query) => api.analytics.list({ ...query, ...until(events[0]) }))).toEqual(events);
      const listed = await all((query) => management.tenants.events(id, { ...query, ...until(managementEvents[0]) }));
      expect(listed).toEqual(managementEvents);
    }
  };

  it('has the same resources', listsAsBefore);

  it('has its credentials in the list of all credentials, which earlier versions did not have', async () => {
    for (const { name, issuedUser: userId, credentials } of recorded.tenants) {
      const { api } = tenants.get(name)!;
      const expected = credentials.map((credential) => ({ ...credential, userId }));
      expect(expected.length).toBeGreaterThan(0);
      expect(await all((query) => api.credentials({ ...query, userId }))).toEqual(expected);
      for (const { format, credentialConfigurationId } of expected as unknown as UserCredential[]) {
        const listed = await all((query) => api.credentials({ ...query, format, credentialConfigurationId }));
        expect(listed).toEqual(expected.filter((one) => (one as unknown as UserCredential).format === format));
      }
      expect(await all((query) => api.credentials({ ...query, status: 'valid' }))).toEqual([]);
    }
  });

  it('has the same events, with their ids, order and times', eventsAsBefore);

  it('has the same events by filter', async () => {
    const [{ name, events, client }] = recorded.tenants as [RecordedTenant];
    const { api } = tenants.get(name)!;
    const dateTo = events[0]!.timestamp;
    const one = events.find(({ type }) => type === 'OPENID_CREDENTIAL_SUCCESS')!;
    const cases: [Parameters<TenantApi['analytics']['list']>[0], (event: AnalyticsEvent) => boolean][] = [
      [
        { types: ['USER_CREATE_START', 'USER_CREATE_SUCCESS'] },
        ({ type }) => /^USER_CREATE_(START|SUCCESS)$/.test(type),
      ],
      [{ categories: ['did'] }, ({ category }) => category === 'did'],
      [{ clientIds: [client.clientId] }, ({ clientId }) => clientId === client.clientId],
      [{ clientIds: ['none'] }, ({ clientId }) => clientId === undefined],
      [{ requestIds: [one.requestId] }, ({ requestId }) => requestId === one.requestId],
      [{ ids: [one.id] }, ({ id }) => id === one.id],
    ];
    for (const [filter, fits] of cases) {
      const listed = await all((query) => api.analytics.list({ ...query, ...filter, dateTo }));
      expect([filter, listed]).toEqual([filter, events.filter(fits)]);
    }
  });

  it('continues: users, deletions, and a credential of an earlier configuration', async () => {
    for (const { name, kept, gone, issuer, issuedUser, credentials } of recorded.tenants) {
      const tenant = tenants.get(name)!;
      const { api } = tenant;
      expect(expectStatus(await api.users.retrieve(kept), 200).claims).toEqual({ given_name: 'Ada' });
      expect((await api.users.retrieve(gone)).status).toBe(404);
      for (const configuration of [issuer.jwtVc, issuer.webSemantic]) {
        const claims = { given_name: 'Ada', note: 'x' };
        const { issued } = await issue(tenant, { credentials: [configuration], claims, userId: issuedUser });
        expect(issued.userId).toBe(issuedUser);
      }
      await waitUntil(
        async () => expectStatus(await api.users.credentials(issuedUser), 200).data.length === credentials.length + 2,
        { what: 'the credentials of the user' },
      );
      expect((await api.users.delete(kept)).status).toBe(204);
      expect((await api.users.retrieve(kept)).status).toBe(404);
    }
  });

  it('is backed up, and the platform continues from the backup', async () => {
    await command('backup', ['--from', join(folder, 'data'), '--to', join(folder, 'copy')]);
    const [{ name, kept }] = recorded.tenants as [RecordedTenant];
    expect(await platform.end()).toBe(0);
    platform = await start(join(folder, 'copy'));
    await connect();
    expect((await tenants.get(name)!.api.users.retrieve(kept)).status).toBe(404);
    await eventsAsBefore();
  });

  (programs ? it : it.skip)(
    'is copied to PostgreSQL before it was ever started',
    async () => {
      postgres = await PostgresServer.start(programs!);
      const database = { DATABASE_URL: postgres.url(), DATABASE_SCHEMA: 'moved' };
      await command('migrate', [], { ...database, ...recorded.secrets });
      const [from, to] = [join(folder, 'untouched'), `${postgres.url()}?schema=moved`];
      await unpack(from);
      // The platform was stopped right after its last queries: their records are still in its feed.
      const words = ['--from', from, '--to', to, '--keys-from', from, '--keys-to', to, '--leave-unpublished'];
      const summary = JSON.parse(await command('copy-events', words, recorded.secrets)) as Record<string, unknown>;
      expect(summary).toMatchObject({ complete: true, keys: { secretsVerify: true }, events: { reordered: 0 } });
      expect(await platform.end()).toBe(0);
      platform = await start(join(folder, 'beside'), database);
      await connect();
      await waitUntil(
        () =>
          listsAsBefore().then(
            () => true,
            () => false,
          ),
        { what: 'rows of the copied events' },
      );
      await listsAsBefore();
      await eventsAsBefore();
    },
    PLATFORM_START_MS,
  );
});
