import {
  ApiClient,
  clientToken,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  ManagementApi,
  PLATFORM_START_MS,
  registerManagementClient,
  startPlatform,
  waitUntil,
  type Answer,
  type MailReceiver,
  type OpenIdProvider,
  type RequestParts,
  type RunningPlatform,
} from '@attestry/testing';
import { closeSurroundings, openSurroundings } from '../surroundings.js';
import { waitForPair } from './wait-for-pair.js';

// Statements of the management API specification about people, by their numbers in docs/reference/conformance.md. Paths
// are written out here, because they are the statement.

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const FIVE_DAYS_MS = 5 * 24 * 3_600_000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

let provider: OpenIdProvider;
let mail: MailReceiver;
let platform: RunningPlatform;
let environmentId: string;

beforeAll(async () => {
  const surroundings = await openSurroundings();
  ({ provider, mail } = surroundings);
  platform = await startPlatform({ startTimeoutMs: PLATFORM_START_MS, env: surroundings.env });
  environmentId = expectStatus(await (await connectManagement(platform)).environments.list(), 200).data[0]!.id;
}, 2 * PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await closeSurroundings();
});

let counter = 0;
const unique = (stem: string) => `${stem}-${(++counter).toString(36)}`;
interface Person {
  api: ManagementApi;
  userId: string;
  email: string;
  call: <T = Record<string, unknown>>(method: string, path: string, parts?: RequestParts) => Promise<Answer<T>>;
}
const signIn = async (name: string, email = `${name}@people.example`): Promise<Person> => {
  const { access_token } = await provider.signIn({ sub: name, email, email_verified: true, name });
  const api = new ManagementApi(platform.ready.management, access_token);
  const { id: userId } = expectStatus(await api.user.retrieve(), 200);
  return { api, userId, email, call: (method, path, parts) => api.client.request(method, path, parts) };
};
const makeTenant = async (owner: ManagementApi) =>
  expectStatus(await owner.tenants.create({ subdomain: unique('people'), environmentId }), 201).id;
const freshEmail = () => `${unique('guest')}@people.example`;

describe('user information', () => {
  it('is retrieved for the calling user [M22, M36]', async () => {
    const ada = await signIn('lovelace');
    const answer = await ada.call('GET', '/v1/userinfo');
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id: expect.stringMatching(UUID),
        email: 'lovelace@people.example',
        name: 'lovelace',
        // `endDate` is absent: the plan has none.
        pricingPlan: { type: 'Standard' },
        status: 'Active',
      },
    ]);
    expect((await (await connectManagement(platform)).user.retrieve()).status).toBe(403);
  });

  it('is updated by `name` [M23, M37]', async () => {
    const grace = await signIn('hopper');
    const before = (await grace.call('GET', '/v1/userinfo')).body;
    const answer = await grace.call('PUT', '/v1/userinfo', { body: { name: 'Grace Hopper' } });
    expect([answer.status, answer.body]).toEqual([200, { ...before, name: 'Grace Hopper' }]);
    expect((await grace.call('GET', '/v1/userinfo')).body).toEqual(answer.body);
    for (const body of [{}, { name: '' }, { name: 7 }]) {
      const refused = await grace.call('PUT', '/v1/userinfo', { body });
      expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param: 'name', location: 'body' }] }]);
    }
  });
});

describe('members', () => {
  it('who are registered are added at once as Active [M14, M15, M16, M18, M38, M39, M40]', async () => {
    const [owner, guest] = [await signIn('owner-a'), await signIn('registered-a')];
    const tenantId = await makeTenant(owner.api);
    const body = { email: guest.email, roles: ['issuer', 'auditor'] };
    const requestedAt = Date.now();
    const invited = await owner.call('POST', `/v1/tenants/${tenantId}/invitations`, { body });
    expect([invited.status, invited.body]).toEqual([
      200,
      { userId: guest.userId, status: 'Active', inviteExpiresAt: expect.stringMatching(ISO_TIME) },
    ]);
    const ends = Date.parse(invited.body['inviteExpiresAt'] as string) - FIVE_DAYS_MS;
    expect(ends).toBeGreaterThanOrEqual(requestedAt - 1000);
    expect(ends).toBeLessThanOrEqual(Date.now() + 1000);
    const shown = {
      id: guest.userId,
      email: guest.email,
      name: 'registered-a',
      status: 'Active',
      roles: ['issuer', 'auditor'],
      inviteExpiresAt: invited.body['inviteExpiresAt'],
    };
    const one = await owner.call('GET', `/v1/tenants/${tenantId}/members/${guest.userId}`);
    expect([one.status, one.body]).toEqual([200, shown]);
    const page = await waitUntil(async () => {
      const list = await owner.call<{ data: unknown[] }>('GET', `/v1/tenants/${tenantId}/members`);
      return list.status !== 200 || list.body.data.length === 2 ? list : undefined;
    });
    expect([page.status, page.body]).toEqual([
      200,
      { data: [expect.objectContaining({ id: owner.userId, status: 'Active', roles: ['admin'] }), shown] },
    ]);
    const first = await owner.call<{ nextCursor: string }>('GET', `/v1/tenants/${tenantId}/members`, {
      query: { limit: 1 },
    });
    const query = { limit: 1, cursor: first.body.nextCursor };
    expect((await owner.call('GET', `/v1/tenants/${tenantId}/members`, { query })).body).toEqual({ data: [shown] });
    // A member now, without a link.
    expect((await guest.call('GET', `/v1/tenants/${tenantId}`)).status).toBe(200);
    expect(mail.to(guest.email)).toEqual([]);
  });

  it('who are not registered are Pending, get an e-mail with a link, and become Active with it [M16, M17, M18, M19]', async () => {
    const owner = await signIn('owner-b');
    const tenantId = await makeTenant(owner.api);
    const email = freshEmail();
    const path = `/v1/tenants/${tenantId}/invitations`;
    const invite = () => owner.call<{ userId: string }>('POST', path, { body: { email, roles: ['issuer'] } });
    const { status, body } = await invite();
    expect([status, body]).toEqual([
      200,
      { userId: expect.stringMatching(UUID), status: 'Pending', inviteExpiresAt: expect.stringMatching(ISO_TIME) },
    ]);
    const member = () => owner.call('GET', `/v1/tenants/${tenantId}/members/${body.userId}`);
    expect((await member()).body).toMatchObject({ email, status: 'Pending', roles: ['issuer'] });
    const token = async () => (await mail.linkTo(email)).searchParams.get('token')!;
    const first = await token();
    // Invited again: still Pending, with a new link, and the old one is invalid.
    expect((await invite()).body).toMatchObject({ userId: body.userId, status: 'Pending' });
    await waitUntil(() => mail.to(email).length === 2, { what: 'the second e-mail' });
    const guest = await signIn(unique('guest-b'), email);
    const accept = async (link: string) =>
      (await guest.call('POST', '/v1/invitations/accept', { body: { token: link } })).status;
    expect(await accept(first)).toBe(400);
    const second = await token();
    expect(await accept(second)).toBe(200);
    expect((await member()).body).toMatchObject({ status: 'Active' });
    expect(await accept(second)).toBe(400);
  });

  it('can have their roles updated, and lose all roles with the membership [M20, M21, M41, M42]', async () => {
    const [owner, guest] = [await signIn('owner-c'), await signIn('registered-c')];
    const tenantId = await makeTenant(owner.api);
    expectStatus(await owner.api.members.invite(tenantId, { email: guest.email, roles: ['admin'] }), 200);
    const clients = () => guest.call('GET', `/v1/tenants/${tenantId}/clients`);
    expect((await clients()).status).toBe(200);
    const path = `/v1/tenants/${tenantId}/memberships/${guest.userId}`;
    const updated = await owner.call('PUT', path, { body: { roles: ['issuer'] } });
    expect([updated.status, updated.body]).toEqual([200, { userId: guest.userId, tenantId, roles: ['issuer'] }]);
    expect((await clients()).status).toBe(403);
    for (const body of [{}, { roles: [] }, { roles: ['emperor'] }]) {
      const refused = await owner.call('PUT', path, { body });
      expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param: 'roles' }] }]);
    }
    expect((await owner.call('PUT', path, { body: { roles: ['admin', 'issuer'] } })).status).toBe(200);
    expect((await clients()).status).toBe(200);
    const removed = await owner.call('DELETE', path);
    expect([removed.status, removed.text]).toEqual([204, '']);
    // The next call, with the token of before.
    expect((await clients()).status).toBe(404);
    expect((await guest.call('GET', `/v1/tenants/${tenantId}`)).status).toBe(404);
    expect((await owner.call('GET', `/v1/tenants/${tenantId}/members/${guest.userId}`)).status).toBe(404);
    expect((await owner.call('DELETE', path)).status).toBe(404);
  });

  it('who are refused are in the access events of the tenant, outsiders are not [T877]', async () => {
    const [owner, guest, outsider] = [
      await signIn('owner-f'),
      await signIn('registered-f'),
      await signIn('outsider-f'),
    ];
    const made = expectStatus(await owner.api.tenants.create({ subdomain: unique('people'), environmentId }), 201);
    const url = `${new URL(platform.ready.management).protocol}//${made.subdomain}`;
    const trail = new ApiClient(url, await clientToken(platform, url, made.client));
    expectStatus(await owner.api.members.invite(made.id, { email: guest.email, roles: ['verifier'] }), 200);
    const refused = await guest.call('GET', `/v1/tenants/${made.id}/clients`);
    const hidden = await outsider.call('GET', `/v1/tenants/${made.id}/clients`);
    expect([refused.status, hidden.status]).toEqual([403, 404]);
    const accessOf = async ({ headers }: Answer) => {
      const query = { categories: 'access', requestIds: headers.get('x-request-id')! };
      return (await trail.request<{ data: Record<string, unknown>[] }>('GET', '/v1/events', { query })).body.data;
    };
    await waitUntil(async () => (await accessOf(refused)).length === 2, { what: 'the record' });
    const [fail, start] = await accessOf(refused);
    expect([fail!['type'], start!['type']]).toEqual(['ACCESS_REFUSED_FAIL', 'ACCESS_REFUSED_START']);
    expect(fail).toMatchObject({
      managementUserId: guest.userId,
      object: { type: 'operation', id: 'management.list-clients' },
      metadata: { error: { status: 403 } },
    });
    expect(await accessOf(hidden)).toEqual([]);
  });

  it('have START and outcome recorded for each call about them [M48]', async () => {
    const [owner, guest] = [await signIn('owner-d'), await signIn('registered-d')];
    const made = expectStatus(await owner.api.tenants.create({ subdomain: unique('people'), environmentId }), 201);
    const url = `${new URL(platform.ready.management).protocol}//${made.subdomain}`;
    const trail = new ApiClient(url, await clientToken(platform, url, made.client));
    const { members } = owner.api;
    const calls = [
      ['TENANT_MEMBER_INVITATION_CREATE', await members.invite(made.id, { email: guest.email, roles: ['issuer'] })],
      ['TENANT_MEMBER_RETRIEVE_LIST', await members.list(made.id)],
      ['TENANT_MEMBER_RETRIEVE', await members.retrieve(made.id, guest.userId)],
      ['TENANT_MEMBERSHIP_UPDATE', await members.update(made.id, guest.userId, ['auditor'])],
      ['TENANT_MEMBERSHIP_DELETE', await members.delete(made.id, guest.userId)],
    ] as const;
    for (const [prefix, { headers }] of calls)
      expect(await waitForPair(trail, headers.get('x-request-id')!)).toEqual([`${prefix}_SUCCESS`, `${prefix}_START`]);
  });
});

/**
 * The response to each kind of caller, written out independently of the code. Every operation that is about a tenant is listed.
 * `self` is a member without `admin`; about themselves they may do more.
 */
describe('the permissions of members [M46, M51]', () => {
  type Called = (ids: {
    tenantId: string;
    clientId: string;
    member: string;
    invited: string;
  }) => [string, string, object?];
  const tenant = (rest = '') => `/v1/tenants/:tenantId${rest}`;
  const roles = ['auditor'];
  /** Operation, the answer to an admin, and to a member without `admin`; unauthenticated callers always get 404. */
  const ROWS: [string, number, number, Called][] = [
    ['retrieve the tenant', 200, 200, () => ['GET', tenant()]],
    ['rename the tenant', 200, 403, () => ['PUT', tenant(), { name: 'Renamed' }]],
    ['list its events', 200, 200, () => ['GET', tenant('/events')]],
    ['list its clients', 200, 403, () => ['GET', tenant('/clients')]],
    ['create a client', 201, 403, () => ['POST', tenant('/clients'), { name: 'x', roles }]],
    ['retrieve a client', 200, 403, ({ clientId }) => ['GET', tenant(`/clients/${clientId}`)]],
    ['update a client', 200, 403, ({ clientId }) => ['PUT', tenant(`/clients/${clientId}`), { name: 'x', roles }]],
    ['give a client a secret', 201, 403, ({ clientId }) => ['POST', tenant(`/clients/${clientId}/secret`), {}]],
    ['delete a client', 204, 403, ({ clientId }) => ['DELETE', tenant(`/clients/${clientId}`)]],
    ['invite', 200, 403, () => ['POST', tenant('/invitations'), { email: freshEmail(), roles }]],
    ['list invitations', 200, 403, () => ['GET', tenant('/invitations')]],
    ['resend an invitation', 200, 403, ({ invited }) => ['POST', tenant(`/invitations/${invited}/resend`)]],
    ['cancel an invitation', 204, 403, ({ invited }) => ['DELETE', tenant(`/invitations/${invited}`)]],
    ['list members', 200, 403, () => ['GET', tenant('/members')]],
    ['retrieve a member', 200, 403, ({ member }) => ['GET', tenant(`/members/${member}`)]],
    ["update a member's roles", 200, 403, ({ member }) => ['PUT', tenant(`/memberships/${member}`), { roles }]],
    ['remove a member', 204, 403, ({ member }) => ['DELETE', tenant(`/memberships/${member}`)]],
    ['delete the tenant', 204, 403, () => ['DELETE', tenant()]],
  ];

  let owner: Person;
  let machine: ManagementApi;
  let self: Person;
  /** Not members: another person, another machine client, and an invited person who has not accepted. */
  let outsiders: [string, ManagementApi][];
  beforeAll(async () => {
    owner = await signIn('matrix-owner');
    self = await signIn('matrix-member');
    machine = await connectManagement(platform);
    outsiders = [
      ['another person', (await signIn('matrix-stranger')).api],
      ['another machine client', await registerManagementClient(platform, 'matrix stranger')],
    ];
  }, PLATFORM_START_MS);

  /** A separate tenant for each call, because some calls delete their resource. */
  const scene = async (admin: ManagementApi) => {
    const tenantId = await makeTenant(admin);
    const { clientId } = expectStatus(await admin.clients.create(tenantId, { name: 'one', roles: ['holder'] }), 201);
    const invite = async (email: string, as: 'auditor' | 'admin') =>
      expectStatus(await admin.members.invite(tenantId, { email, roles: [as] }), 200).userId;
    const member = await invite((await signIn('matrix-other')).email, 'auditor');
    await invite(self.email, 'auditor');
    return { tenantId, clientId, member, invited: await invite(freshEmail(), 'admin') };
  };
  const send = ({ client }: ManagementApi, called: Called, ids: Awaited<ReturnType<typeof scene>>) => {
    const [method, path, body] = called(ids);
    return client.request(method, path.replace(':tenantId', ids.tenantId), body && { body });
  };

  it.each(ROWS)('%s', async (_name, asAdmin, asMember, called) => {
    const ids = await scene(owner.api);
    const unknown = { ...ids, tenantId: NO_SUCH };
    // The refused callers first: the resource still exists.
    for (const [who, api] of outsiders) {
      const answer = await send(api, called, ids);
      expect([who, answer.status, answer.body]).toMatchObject([who, 404, { code: 'NotFound' }]);
      // A tenant that does not exist gets the same answer: the two cannot be distinguished.
      expect((await send(api, called, unknown)).body).toEqual(answer.body);
    }
    const refused = await send(self.api, called, ids);
    expect(refused.status).toBe(asMember);
    if (asMember === 403) expect(refused.body).toMatchObject({ code: 'Forbidden', type: expect.any(String) });
    expect((await send(owner.api, called, unknown)).status).toBe(404);
    expect((await send(owner.api, called, ids)).status).toBe(asAdmin);
    // A machine that made its tenant is its admin, and may all that a person may.
    expect((await send(machine, called, await scene(machine))).status).toBe(asAdmin);
  });

  it('environments, the list of tenants and their creation are allowed for every authenticated caller', async () => {
    for (const api of [owner.api, machine, self.api, ...outsiders.map(([, it]) => it)]) {
      expectStatus(await api.environments.list(), 200);
      expectStatus(await api.tenants.list(), 200);
      const { id } = expectStatus(await api.tenants.create({ subdomain: unique('people'), environmentId }), 201);
      expect(expectStatus(await api.tenants.retrieve(id), 200).membership).toEqual({ roles: ['admin'] });
    }
  });

  it('members can retrieve and remove themselves without the role admin', async () => {
    const { tenantId } = await scene(owner.api);
    const path = `/v1/tenants/${tenantId}/members/${self.userId}`;
    expect((await self.call('GET', path)).body).toMatchObject({ id: self.userId, roles: ['auditor'] });
    const membership = `/v1/tenants/${tenantId}/memberships/${self.userId}`;
    expect((await self.call('PUT', membership, { body: { roles: ['admin'] } })).status).toBe(403);
    expect((await self.call('DELETE', membership)).status).toBe(204);
    expect((await self.call('GET', path)).status).toBe(404);
  });

  it('an invited person is not a member until they accept', async () => {
    const tenantId = await makeTenant(owner.api);
    const email = freshEmail();
    expectStatus(await owner.api.members.invite(tenantId, { email, roles: ['admin'] }), 200);
    const invited = await signIn(unique('matrix-invited'), email);
    for (const rest of ['', '/clients', '/members', '/invitations', '/events'])
      expect([rest, (await invited.call('GET', `/v1/tenants/${tenantId}${rest}`)).status]).toEqual([rest, 404]);
  });

  it("a tenant's own client is unauthenticated at the management API, whatever its roles: 401", async () => {
    const own = await createTenantUnderTest(platform, machine, unique('matrix'));
    const admin = await connectWithRoles(platform, machine, own, ['admin']);
    const api = new ManagementApi(platform.ready.management, admin.client.token!);
    expect((await api.tenants.retrieve(own.id)).status).toBe(401);
    expect((await api.clients.list(own.id)).status).toBe(401);
  });
});
