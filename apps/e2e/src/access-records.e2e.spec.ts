import { request } from 'node:http';
import type { AnalyticsEvent } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  registerManagementClient,
  settledRecords,
  startPlatform,
  waitUntil,
  type ManagementApi,
  type RunningPlatform,
  type TenantApi,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
let verifier: TenantApi;
let auditor: TenantApi;
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'watched');
  verifier = await connectWithRoles(platform, management, tenant, ['verifier']);
  auditor = await connectWithRoles(platform, management, tenant, ['auditor']);
}, PLATFORM_START_MS);
afterAll(() => platform?.stop());

type Query = Parameters<TenantApi['analytics']['list']>[0];
const access = async (query: Query = {}): Promise<AnalyticsEvent[]> => {
  await settledRecords(tenant.api);
  return expectStatus(await auditor.analytics.list({ categories: ['access'], limit: 1000, ...query }), 200).data;
};
const ofCall = ({ headers }: { headers: Headers }) => access({ requestIds: [headers.get('x-request-id')!] });

describe('a refused call', () => {
  it('of a known client is listed, where the category is named alone [T877]', async () => {
    const before = expectStatus(await auditor.analytics.list({ limit: 1 }), 200).data;
    const answer = await verifier.webhooks.list();
    expect(answer.status).toBe(403);
    const [fail, start, ...more] = await ofCall(answer);
    expect(more).toEqual([]);
    expect([fail!.type, start!.type]).toEqual(['ACCESS_REFUSED_FAIL', 'ACCESS_REFUSED_START']);
    expect(fail).toMatchObject({
      category: 'access',
      object: { type: 'operation', id: 'webhooks.list-webhooks' },
      clientId: expect.any(String),
      metadata: { error: { status: 403 } },
    });
    expect(expectStatus(await auditor.analytics.list({ limit: 1 }), 200).data).toEqual(before);
    const requestIds = [answer.headers.get('x-request-id')!];
    expect(expectStatus(await auditor.analytics.list({ requestIds }), 200).data).toEqual([]);
    const types = ['ACCESS_REFUSED_FAIL', 'ACCESS_REFUSED_START'];
    expect(expectStatus(await auditor.analytics.list({ types }), 200).data).toEqual([]);
  });

  it('without valid credentials leaves nothing [T877]', async () => {
    const other = await createTenantUnderTest(platform, management, 'watched-other');
    const outsider = await registerManagementClient(platform, 'watched-outsider');
    const ofOther = new ApiClient(tenant.url, other.api.client.token);
    const answers = [
      await new ApiClient(tenant.url).request('GET', '/v1/webhooks'),
      await new ApiClient(tenant.url, 'noise').request('GET', '/v1/webhooks'),
      await ofOther.request('GET', '/v1/webhooks'),
      await outsider.tenants.events(tenant.id),
      await verifier.client.request('GET', '/v9/nothing'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 404, 404]);
    for (const answer of answers) expect(await ofCall(answer)).toEqual([]);
  });

  it('many times in a minute is 20 records, and one for the rest when it ends [T879]', async () => {
    const flooding = await connectWithRoles(platform, management, tenant, ['verifier']);
    const requestIds: string[] = [];
    for (let n = 0; n < 5; n++) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => flooding.users.list()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
      requestIds.push(...answers.map(({ headers }) => headers.get('x-request-id')!));
    }
    const found = await access({ requestIds });
    expect(found.length).toBeGreaterThanOrEqual(2 * 20);
    // On two gateways, and a minute may end between the calls: then its record is written, too.
    expect(found.length).toBeLessThanOrEqual(2 * 2 * 2 * 21);
    expect(expectStatus(await auditor.analytics.list({ requestIds }), 200).data).toEqual([]);
  });
});

describe('a read of the trail', () => {
  it('is listed with the number of entries, by client and by member [T878]', async () => {
    const page = await tenant.api.analytics.list({ limit: 3 });
    const [success, start] = await ofCall(page);
    expect([success!.type, start!.type]).toEqual(['EVENT_RETRIEVE_LIST_SUCCESS', 'EVENT_RETRIEVE_LIST_START']);
    expect(success).toMatchObject({ metadata: { entriesCount: 3 }, clientId: tenant.admin.clientId });
    const managed = await management.tenants.events(tenant.id, { limit: 2 });
    expect(expectStatus(managed, 200).data).toHaveLength(2);
    expect((await ofCall(managed))[0]).toMatchObject({
      object: { id: 'management.list-tenant-events' },
      metadata: { entriesCount: 2 },
    });
    const own = await management.tenants.events(tenant.id, { categories: ['access'], limit: 1000 });
    expect(new Set(expectStatus(own, 200).data.map(({ category }) => category))).toEqual(new Set(['access']));
  });

  it('by an export has its trailers as metadata [T878]', async () => {
    const url = new URL(`${tenant.url}/v1/events/export?format=csv`);
    const headers = { host: url.host, authorization: `Bearer ${tenant.api.client.token}` };
    const options = { host: '127.0.0.1', port: url.port, path: url.pathname + url.search, headers };
    const [requestId, trailers] = await new Promise<[string, NodeJS.Dict<string>]>((resolve, reject) => {
      request(options, (answer) => {
        answer.resume();
        answer.on('end', () => resolve([String(answer.headers['x-request-id']), answer.trailers]));
      })
        .on('error', reject)
        .end();
    });
    const [success] = await access({ requestIds: [requestId] });
    expect(success).toMatchObject({
      type: 'EVENT_EXPORT_SUCCESS',
      metadata: { entriesCount: Number(trailers['x-count']), contentDigest: trailers['content-digest'] },
    });
  });

  it('of another tenant is not listed', async () => {
    const other = await createTenantUnderTest(platform, management, 'watched-third');
    const answer = await tenant.api.analytics.list();
    const query = { categories: ['access'], requestIds: [answer.headers.get('x-request-id')!] };
    await waitUntil(async () => (await access({ requestIds: query.requestIds })).length === 2, { what: 'the record' });
    expect(expectStatus(await other.api.analytics.list(query), 200).data).toEqual([]);
  });

  it('has types of its own', async () => {
    const { data } = expectStatus(await auditor.analytics.types(), 200);
    const own = data.filter(({ category }) => category === 'access').map(({ type }) => type);
    expect(own).toEqual(
      expect.arrayContaining(['ACCESS_REFUSED_FAIL', 'EVENT_RETRIEVE_LIST_SUCCESS', 'EVENT_EXPORT_FAIL']),
    );
    for (const { type } of await access()) expect(own).toContain(type);
  });
});
