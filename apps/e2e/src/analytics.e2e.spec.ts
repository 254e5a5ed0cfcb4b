import type { AnalyticsEvent } from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  registerManagementClient,
  settledRecords,
  startPlatform,
  type Answer,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';
import { issue, makeIssuer, type Issuer } from './journey.js';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
let issuer: Issuer;
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'audited');
  issuer = await makeIssuer(tenant);
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

type Filter = Record<string, string | number | readonly string[]>;
const events = async (query: Filter): Promise<AnalyticsEvent[]> =>
  expectStatus(await tenant.api.analytics.list(query), 200).data;
const ofCall = async ({ headers }: Answer): Promise<AnalyticsEvent[]> => {
  await settledRecords(tenant.api);
  return events({ requestIds: headers.get('x-request-id')! });
};
const typesOf = (list: AnalyticsEvent[]) => list.map(({ type }) => type);

describe('every call', () => {
  const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';
  const calls: [string, string, 'SUCCESS' | 'FAIL', () => Promise<Answer>][] = [
    ['a creation', 'USER_CREATE', 'SUCCESS', () => tenant.api.users.create()],
    ['a list', 'DID_RETRIEVE_LIST', 'SUCCESS', () => tenant.api.dids.list({ limit: 7 })],
    ['a record', 'DID_RETRIEVE', 'SUCCESS', () => tenant.api.dids.retrieve(issuer.did)],
    ['what is not there', 'USER_RETRIEVE', 'FAIL', () => tenant.api.users.retrieve(NO_SUCH)],
    ['a malformed id', 'USER_RETRIEVE', 'FAIL', () => tenant.api.users.retrieve('x')],
    ['a wrong body', 'WEBHOOK_CREATE', 'FAIL', () => tenant.api.webhooks.create({} as never)],
    ['no JSON', 'DID_CREATE', 'FAIL', () => tenant.api.client.request('POST', '/v1/dids', { body: '{' })],
    [
      'another media type',
      'DID_CREATE',
      'FAIL',
      () => tenant.api.client.request('POST', '/v1/dids', { body: 'x', headers: { 'content-type': 'text/plain' } }),
    ],
    [
      'too large a body',
      'USER_CREATE',
      'FAIL',
      () => tenant.api.users.create({ claims: { note: 'x'.repeat(1_100_000) } }),
    ],
    [
      'a management call on the tenant',
      'TENANT_CLIENT_RETRIEVE_LIST',
      'SUCCESS',
      () => management.clients.list(tenant.id),
    ],
    [
      'a management call on the tenant with a wrong body',
      'TENANT_UPDATE',
      'FAIL',
      () => management.tenants.update(tenant.id, ''),
    ],
    [
      'a management call on what the tenant does not have',
      'TENANT_CLIENT_RETRIEVE',
      'FAIL',
      () => management.clients.retrieve(tenant.id, 'x'.repeat(32)),
    ],
  ];
  it.each(calls)('records a START and one outcome: %s', async (_name, prefix, outcome, call) => {
    const answer = await call();
    const found = await ofCall(answer);
    // Newest first: the outcome precedes the START.
    expect(typesOf(found)).toEqual([`${prefix}_${outcome}`, `${prefix}_START`]);
    const [end, start] = found as [AnalyticsEvent, AnalyticsEvent];
    expect(Date.parse(end.timestamp)).toBeGreaterThanOrEqual(Date.parse(start.timestamp));
    for (const event of found) {
      expect(event).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), data: null });
      expect(event.clientId).toEqual(expect.stringMatching(/^[A-Za-z0-9]{32}$/));
      expect(event.category).toBe(start.category);
    }
    if (outcome === 'FAIL')
      expect(end.metadata).toEqual({
        error: { status: answer.status, code: expect.any(String), message: expect.any(String) },
      });
  });

  it('of a list records the requested limit and the number of results', async () => {
    const [end, start] = await ofCall(await tenant.api.dids.list({ limit: 7 }));
    expect(start!.metadata).toEqual({ limit: 7 });
    expect(end!.metadata).toEqual({ entriesCount: 1 });
  });

  it('of a wallet is recorded once its code or token names a session', async () => {
    const { issued } = await issue(tenant, { credentials: [issuer.jwtVc], claims: {} });
    const wire = new ApiClient(tenant.url);
    const grant_type = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
    const exchange = (code: string) =>
      wire.request('POST', '/v1/oauth/token', {
        body: new URLSearchParams({ grant_type, 'pre-authorized_code': code }),
      });
    const offer = JSON.parse(new URL(issued.uri).searchParams.get('credential_offer')!) as {
      grants: Record<string, Record<string, string>>;
    };
    const spent = await exchange(offer.grants[grant_type]!['pre-authorized_code']!);
    expect(spent.status).toBe(400);
    expect(typesOf(await ofCall(spent))).toEqual(['OPENID_TOKEN_FAIL', 'OPENID_TOKEN_START']);
    expect(await ofCall(await exchange('noise'))).toEqual([]);
    const noToken = await wire.request('POST', '/v1/openid/credential', { body: {}, token: 'noise' });
    expect(await ofCall(noToken)).toEqual([]);
  });

  it('that is refused before START, or is exempt, is not recorded', async () => {
    const holder = await connectWithRoles(platform, management, tenant, ['holder']);
    await settledRecords(tenant.api);
    const before = (await events({ limit: 1 }))[0]!.id;
    const anonymous = new ApiClient(tenant.url);
    const answers = [
      await anonymous.request('GET', '/v1/dids'),
      await holder.dids.list(),
      await anonymous.request('GET', '/v9/nothing'),
      await anonymous.request('GET', '/.well-known/openid-credential-issuer'),
      await anonymous.request('POST', '/v1/openid/nonce'),
      await tenant.api.analytics.list(),
      await tenant.api.analytics.list({ limit: 0 }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 404, 200, 200, 200, 400]);
    await clientToken(platform, tenant.url, tenant.admin);
    for (const answer of answers) expect(await ofCall(answer)).toEqual([]);
    expect((await events({ limit: 1 }))[0]!.id).toBe(before);
  });

  it('among concurrent calls records its own START and outcome', async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => tenant.api.users.create()));
    const requestIds = answers.map(({ headers }) => headers.get('x-request-id')!);
    const found = await events({ requestIds, limit: 1000 });
    expect(found).toHaveLength(80);
    for (const requestId of requestIds) {
      const own = found.filter((event) => event.requestId === requestId);
      expect(typesOf(own)).toEqual(['USER_CREATE_SUCCESS', 'USER_CREATE_START']);
    }
  });
});

describe('the query', () => {
  beforeEach(() => settledRecords(tenant.api));
  let mine: string;
  let other: { clientId: string };
  beforeAll(async () => {
    mine = tenant.admin.clientId;
    const issuing = await connectWithRoles(platform, management, tenant, ['issuer']);
    other = issuing;
    expectStatus(await issuing.dids.list(), 200);
    expectStatus(await tenant.api.webhooks.list(), 200);
  });
  const sorted = (list: AnalyticsEvent[]) => list.map(({ timestamp }) => timestamp);

  it('returns the newest events first', async () => {
    const all = sorted(await events({ limit: 1000 }));
    expect(all).toEqual([...all].sort().reverse());
  });

  it('filters by type, by category and by both together', async () => {
    const types = ['DID_CREATE_SUCCESS', 'DID_RETRIEVE_LIST_START'];
    const byType = await events({ types, limit: 1000 });
    expect(new Set(typesOf(byType))).toEqual(new Set(types));
    expect(await events({ types: types.join(','), limit: 1000 })).toEqual(byType);
    const byCategory = await events({ categories: 'webhook', limit: 1000 });
    expect(byCategory.length).toBeGreaterThan(0);
    expect(new Set(byCategory.map(({ category }) => category))).toEqual(new Set(['webhook']));
    const either = await events({ categories: 'webhook', types, limit: 1000 });
    expect(either).toHaveLength(byType.length + byCategory.length);
  });

  it('filters by id, call and client, combined with AND', async () => {
    const [one] = await events({ types: 'DID_RETRIEVE_LIST_SUCCESS', clientIds: other.clientId });
    expect(one!.clientId).toBe(other.clientId);
    expect(await events({ ids: one!.id })).toEqual([one]);
    expect(await events({ requestIds: one!.requestId })).toHaveLength(2);
    expect(await events({ ids: one!.id, clientIds: mine })).toEqual([]);
    expect(await events({ clientIds: 'none', types: 'DID_RETRIEVE_LIST_SUCCESS' })).toEqual([]);
    expect((await events({ clientIds: '*', limit: 5 })).length).toBe(5);
    expect(await events({ managementUserIds: '*' })).toEqual([]);
    expect((await events({ managementUserIds: 'none', limit: 5 })).length).toBe(5);
    expect(await events({ ids: '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11' })).toEqual([]);
  });

  it('filters by time, both ends included', async () => {
    const all = await events({ limit: 1000 });
    const middle = all[Math.floor(all.length / 2)]!.timestamp;
    const until = await events({ dateTo: middle, limit: 1000 });
    const from = await events({ dateFrom: middle, limit: 1000 });
    expect(until).toEqual(all.filter(({ timestamp }) => timestamp <= middle));
    expect(from).toEqual(all.filter(({ timestamp }) => timestamp >= middle));
    expect(await events({ dateFrom: middle, dateTo: middle, limit: 1000 })).toEqual(
      all.filter(({ timestamp }) => timestamp === middle),
    );
  });

  it('pages through everything once', async () => {
    const dateTo = new Date().toISOString();
    const all = await events({ dateTo, limit: 1000 });
    const seen: AnalyticsEvent[] = [];
    let cursor: string | undefined;
    do {
      const page = expectStatus(
        await tenant.api.analytics.list({ dateTo, limit: 17, ...(cursor !== undefined && { cursor }) }),
        200,
      );
      expect(page.data.length).toBeLessThanOrEqual(17);
      seen.push(...page.data);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
  });

  it.each([
    ['limit', { limit: 1001 }],
    ['limit', { limit: 'ten' }],
    ['cursor', { cursor: 'nonsense' }],
    ['dateFrom', { dateFrom: 'yesterday' }],
    ['dateTo', { dateTo: '2026-13-01T00:00:00Z' }],
    ['dateTo', { dateTo: '2026-W01' }],
    ['types', { types: Array.from({ length: 101 }, (_, n) => `T${n}`) }],
  ] as [string, Filter][])('refuses an invalid %s', async (param, query) => {
    const answer = await tenant.api.analytics.list(query);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ details: [expect.objectContaining({ param, location: 'query' })] });
  });

  it('continues its pages unaffected by events that arrive meanwhile', async () => {
    const dids = async (cursor?: string) =>
      expectStatus(
        await tenant.api.analytics.list({ categories: ['did'], limit: 2, ...(cursor !== undefined && { cursor }) }),
        200,
      );
    const before = await events({ categories: 'did', limit: 1000 });
    const seen: AnalyticsEvent[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = await dids(cursor);
      seen.push(...page.data);
      cursor = page.nextCursor;
      expectStatus(await tenant.api.dids.list(), 200);
    }
    expect(seen).toEqual(before);
  });

  it.each(['none', '*', 'none,*'])('accepts %s for actors together with other filters', async (value) => {
    const found = await events({
      clientIds: value,
      types: 'DID_CREATE_SUCCESS,OPENID_CREDENTIAL_SUCCESS',
      limit: 1000,
    });
    const all = await events({ types: 'DID_CREATE_SUCCESS,OPENID_CREDENTIAL_SUCCESS', limit: 1000 });
    const wanted = (event: AnalyticsEvent) =>
      value === 'none,*' || (event.clientId === undefined) === (value === 'none');
    expect(found).toEqual(all.filter(wanted));
    expect(found.length).toBeGreaterThan(0);
  });

  it('accepts several clients as repeated parameters or separated by commas', async () => {
    const [repeated, listed] = await Promise.all([
      events({
        clientIds: [mine, other.clientId],
        types: ['DID_CREATE_SUCCESS', 'DID_RETRIEVE_LIST_SUCCESS'],
        limit: 50,
      }),
      events({
        clientIds: `${mine},${other.clientId}`,
        types: 'DID_CREATE_SUCCESS,DID_RETRIEVE_LIST_SUCCESS',
        limit: 50,
      }),
    ]);
    expect(repeated).toEqual(listed);
    expect(new Set(listed.map(({ clientId }) => clientId))).toEqual(new Set([mine, other.clientId]));
  });

  it('lists every event type that can occur', async () => {
    const { data } = expectStatus(await tenant.api.analytics.types(), 200);
    const categoryOf = new Map(data.map(({ type, category }) => [type, category]));
    expect(categoryOf.size).toBe(data.length);
    for (const type of ['DID_CREATE_START', 'TENANT_CREATE_SUCCESS', 'OPENID_CREDENTIAL_FAIL'])
      expect(categoryOf.has(type)).toBe(true);
    for (const event of await events({ limit: 1000 })) expect(categoryOf.get(event.type)).toBe(event.category);
  });

  it('returns no events of another tenant', async () => {
    const neighbour = await createTenantUnderTest(platform, management, 'neighbour');
    expectStatus(await neighbour.api.dids.list(), 200);
    const theirs = expectStatus(await neighbour.api.analytics.list({ limit: 1000 }), 200).data;
    const ids = new Set((await events({ limit: 1000 })).map(({ id }) => id));
    expect(theirs.length).toBeGreaterThan(0);
    expect(theirs.filter(({ id }) => ids.has(id))).toEqual([]);
  });

  it('returns the same events after a restart', async () => {
    const dateTo = new Date().toISOString();
    const before = await events({ dateTo, limit: 1000 });
    expect(await platform.end()).toBe(0);
    await platform.restart();
    expect(await events({ dateTo, limit: 1000 })).toEqual(before);
  });
});

describe('an export', () => {
  const period = () => ({ dateFrom: '2026-01-01T00:00:00Z', dateTo: new Date().toISOString() });
  const exported = async (query: Filter) => {
    const answer = await tenant.api.analytics.export(query as never);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    return answer.text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as AnalyticsEvent);
  };

  it('contains the events of the list, oldest first, over several pages', async () => {
    for (let n = 0; n < 30; n++) await Promise.all(Array.from({ length: 20 }, () => tenant.api.dids.list()));
    await settledRecords(tenant.api);
    const query = period();
    const all = await exported(query);
    expect(all.length).toBeGreaterThan(1100);
    const listed: AnalyticsEvent[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const page = expectStatus(
        await tenant.api.analytics.list({ ...query, limit: 1000, ...(cursor !== undefined && { cursor }) }),
        200,
      );
      listed.push(...page.data);
      cursor = page.nextCursor;
    }
    expect(all).toEqual(listed.reverse());
  });

  it('accepts the filters of the list', async () => {
    const query = { ...period(), categories: 'webhook', types: 'DID_CREATE_SUCCESS' };
    expect(await exported(query)).toEqual((await events({ ...query, limit: 1000 })).reverse());
  });

  it('of a period without events is empty', async () => {
    expect(await exported({ dateFrom: '2020-01-01', dateTo: '2020-01-02' })).toEqual([]);
  });

  it('is not recorded itself, and HEAD returns its headers without content', async () => {
    const query = period();
    const answer = await tenant.api.analytics.export(query as never);
    expect(await ofCall(answer)).toEqual([]);
    const head = await tenant.api.client.request('HEAD', '/v1/events/export', { query });
    expect([head.status, head.text, head.headers.get('content-type')]).toEqual([200, '', 'application/x-ndjson']);
  });

  it.each([
    ['dateFrom', { dateFrom: 'then' }],
    ['dateTo', { dateFrom: '2026-01-01', dateTo: 'now' }],
  ] as [string, Filter][])('without a valid %s is refused with 400 before anything is sent', async (param, query) => {
    const answer = await tenant.api.analytics.export(query as never);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ details: [expect.objectContaining({ param, location: 'query' })] });
  });
});

describe('the management API', () => {
  beforeEach(() => settledRecords(tenant.api));
  it("returns the same events to a tenant's admins, with the same filters and pages", async () => {
    expectStatus(await management.clients.list(tenant.id), 200);
    expectStatus(await tenant.api.users.create(), 201);
    await settledRecords(tenant.api);
    const newest = (await events({ limit: 1 }))[0]!.timestamp;
    // The events of both calls themselves are newer.
    const query = { dateTo: newest, limit: 1000 };
    const own = expectStatus(await tenant.api.analytics.list(query), 200);
    expect(own.data.length).toBeGreaterThan(10);
    expect(expectStatus(await management.tenants.events(tenant.id, query), 200)).toEqual(own);
    const filter = { ...query, categories: ['tenant-client', 'tenant'], types: ['USER_CREATE_SUCCESS'] };
    const some = expectStatus(await tenant.api.analytics.list(filter), 200);
    expect(new Set(some.data.map(({ category }) => category))).toEqual(new Set(['tenant-client', 'tenant', 'user']));
    expect(expectStatus(await management.tenants.events(tenant.id, filter), 200)).toEqual(some);
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = expectStatus(await management.tenants.events(tenant.id, { ...query, limit: 300, cursor }), 200);
      seen.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor;
      if (cursor === undefined || seen.length >= own.data.length) break;
    }
    expect(seen.slice(0, own.data.length)).toEqual(own.data.map(({ id }) => id));
  });

  it("does not record the query in the tenant's events, but in the platform's", async () => {
    const before = await events({ limit: 1 });
    const answer = await management.tenants.events(tenant.id, { limit: 1 });
    expect(expectStatus(answer, 200).data).toEqual(before);
    expect(await ofCall(answer)).toEqual([]);
    expect(await events({ limit: 1 })).toEqual(before);
    const types = expectStatus(await tenant.api.analytics.types(), 200).data.map(({ type }) => type);
    expect(types).toContain('TENANT_EVENT_RETRIEVE_LIST_SUCCESS');
  });

  it('answers 404 to other callers and 400 to invalid filters', async () => {
    const other = await createTenantUnderTest(platform, management, 'events-of-another');
    const outsider = await registerManagementClient(platform, 'curious');
    for (const id of [tenant.id, other.id]) expect((await outsider.tenants.events(id)).status).toBe(404);
    const { data } = expectStatus(await management.tenants.events(other.id, { limit: 1000 }), 200);
    const ids = new Set(data.map(({ id }) => id));
    expect((await events({ limit: 1000 })).filter(({ id }) => ids.has(id))).toEqual([]);
    const cursor = expectStatus(await management.tenants.events(tenant.id, { limit: 1 }), 200).nextCursor!;
    for (const query of [{ limit: 1001 }, { dateFrom: 'x' }, { cursor: 'x' }]) {
      const answer = await management.tenants.events(tenant.id, query);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ type: expect.any(String), details: [{ param: Object.keys(query)[0] }] });
    }
    expect((await management.tenants.events(other.id, { cursor })).status).toBe(400);
  });
});
