import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  registerManagementClient,
  requestToken,
  startPlatform,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { waitForPair } from './wait-for-pair.js';

// Statements of the management API specification, by their numbers in docs/reference/conformance.md.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PERMISSION = /^[a-z]+(?:-[a-z]+)*:[a-z]+$/;
const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

let platform: RunningPlatform;
let management: ManagementApi;
let tenant: TenantUnderTest;
let environmentId: string;
beforeAll(async () => {
  platform = await startPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'stated');
  environmentId = expectStatus(await management.environments.list(), 200).data[0]!.id;
}, PLATFORM_START_MS);
afterAll(async () => platform?.stop());

const tenantId = () => ({ tenantId: tenant.id });
const createTenant = (subdomain: string, more: object = {}) =>
  management.tenants.create({ subdomain, environmentId, ...more });

describe('lists', () => {
  it('have data and nextCursor, which identifies the last entry of the page [M1]', async () => {
    for (const name of ['one', 'two', 'three'])
      expectStatus(await management.clients.create(tenant.id, { name, roles: ['holder'] }), 201);
    const all = expectStatus(await management.clients.list(tenant.id), 200).data.map(({ clientId }) => clientId);
    const first = expectStatus(await management.clients.list(tenant.id, { limit: 2 }), 200);
    expect(first).toEqual({ data: expect.any(Array), nextCursor: expect.any(String) });
    const next = expectStatus(await management.clients.list(tenant.id, { limit: 2, cursor: first.nextCursor }), 200);
    expect([...first.data, ...next.data].map(({ clientId }) => clientId)).toEqual(all.slice(0, 4));
  });

  it('have at most 1000 entries, and 100 by default [M2, M56]', async () => {
    const { tenants } = management;
    expect((await tenants.list({ limit: 1000 })).status).toBe(200);
    const refused = await tenants.list({ limit: 1001 });
    expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param: 'limit', location: 'query' }] }]);
    const other = await createTenantUnderTest(platform, management, 'many-clients');
    // One is the default client.
    await Promise.all(
      Array.from({ length: 99 }, (_, at) => management.clients.create(other.id, { name: `c${at}`, roles: ['holder'] })),
    );
    const page = expectStatus(await management.clients.list(other.id), 200);
    expect(page.data).toHaveLength(100);
    const half = expectStatus(await management.clients.list(other.id, { limit: 50 }), 200);
    expect(half.data).toEqual(page.data.slice(0, 50));
  });

  it('are empty after the last entry [M3]', async () => {
    const created = expectStatus(await createTenant('last-of-all'), 201);
    let cursor: string | undefined;
    const ids: string[] = [];
    do {
      const page = expectStatus(await management.tenants.list({ limit: 1, ...(cursor && { cursor }) }), 200);
      ids.push(...page.data.map(({ id }) => id));
      cursor = page.nextCursor ?? undefined;
      if (page.data.length === 0) break;
    } while (cursor);
    expect(ids.at(-1)).toBe(created.id);
    // The last entry is deleted, so the page after the previous one is empty.
    const before = expectStatus(await management.tenants.list({ limit: ids.length - 1 }), 200).nextCursor;
    expectStatus(await management.tenants.delete(created.id), 204);
    expect(expectStatus(await management.tenants.list({ limit: 1, cursor: before }), 200)).toEqual({ data: [] });
  });
});

describe('environments', () => {
  it('have the specified members [M4, M28]', async () => {
    const { data } = expectStatus(await management.environments.list(), 200);
    for (const environment of data)
      expect(environment).toEqual({
        id: expect.stringMatching(UUID),
        name: expect.any(String),
        domain: expect.any(String),
        authorizationServerDomain: expect.any(String),
        deploymentModel: 'public',
        region: { id: expect.stringMatching(UUID), name: expect.any(String), displayName: expect.any(String) },
      });
    expect(data.length).toBeGreaterThan(0);
  });
});

describe('tenants', () => {
  it('are created with a client, whose secret is returned once [M5, M6, M7, M10, M30]', async () => {
    const created = expectStatus(await createTenant('with-name', { name: 'With a name' }), 201);
    expect(created).toMatchObject({
      id: expect.stringMatching(UUID),
      name: 'With a name',
      subdomain: `with-name.${(await management.environments.list()).body.data[0]!.domain}`,
      client: { clientId: expect.stringMatching(/^\S{32}$/), clientSecret: expect.stringMatching(/^\S{64}$/) },
    });
    const { client, ...shown } = created;
    const read = await management.tenants.retrieve(created.id);
    expect(read.body).toEqual(shown);
    expect(read.text + (await management.tenants.list()).text).not.toContain(client.clientSecret);
    expect((await createTenant('without-name')).status).toBe(201);
    for (const [body, param] of [
      [{ environmentId }, 'subdomain'],
      [{ subdomain: 'no-environment' }, 'environmentId'],
      [{ subdomain: 'no-environment', environmentId: NO_SUCH }, 'environmentId'],
    ] as const) {
      const refused = await management.tenants.create(body as never);
      expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param, location: 'body' }] }]);
    }
  });

  it.each(['Upper', 'under_score', 'dot.ted', 'ümlaut', 'sp ace'])(
    'have subdomains of lower case letters, digits and hyphens only, not %s [M57]',
    async (subdomain) => {
      const refused = await createTenant(subdomain);
      expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param: 'subdomain' }] }]);
    },
  );

  it("are read with their environment and the caller's roles [M8, M9, M31]", async () => {
    const read = expectStatus(await management.tenants.retrieve(tenant.id), 200);
    expect(read.environment).toEqual((await management.environments.list()).body.data[0]);
    expect(read.membership).toEqual({ roles: ['admin'] });
  });

  it('are listed, only those of the caller; without any the array is empty [M29]', async () => {
    const { data } = expectStatus(await management.tenants.list(), 200);
    expect(data).toContainEqual(expectStatus(await management.tenants.retrieve(tenant.id), 200));
    const nobody = await registerManagementClient(platform, 'without tenants');
    expect(expectStatus(await nobody.tenants.list(), 200)).toEqual({ data: [] });
  });

  it('are deleted [M32]', async () => {
    const { id } = expectStatus(await createTenant('short-lived'), 201);
    const deleted = await management.tenants.delete(id);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await management.tenants.retrieve(id)).status).toBe(404);
    expect((await management.tenants.delete(id)).status).toBe(404);
  });
});

describe('clients', () => {
  it('are created with a secret, listed without it, and deleted [M11, M12, M13, M33, M34, M35]', async () => {
    const created = expectStatus(await management.clients.create(tenant.id, { name: 'Desk', roles: ['issuer'] }), 201);
    const { clientSecret, ...shown } = created;
    expect(clientSecret).toMatch(/^\S{64}$/);
    expect(shown).toEqual({
      clientId: expect.stringMatching(/^\S{32}$/),
      name: 'Desk',
      roles: ['issuer'],
      permissions: expect.arrayContaining(['dids:read', 'dids:create']),
    });
    for (const permission of shown.permissions) expect(permission).toMatch(PERMISSION);
    const listed = await management.clients.list(tenant.id);
    expect(listed.body.data).toContainEqual(shown);
    expect(listed.text).not.toContain(clientSecret);
    const deleted = await management.clients.delete(tenant.id, shown.clientId);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await management.clients.list(tenant.id)).text).not.toContain(shown.clientId);
    for (const [body, param] of [
      [{ roles: ['issuer'] }, 'name'],
      [{ name: 'Desk' }, 'roles'],
    ] as const) {
      const refused = await management.clients.create(tenant.id, body as never);
      expect([refused.status, refused.body]).toMatchObject([400, { details: [{ param }] }]);
    }
  });
});

describe('the token call', () => {
  const right = () => platform.managementClient();

  it('accepts client credentials, and no bearer token [M24, M25, M27, M43]', async () => {
    const token = expectStatus(await requestToken(platform.ready.auth, right(), platform.ready.management), 200);
    expect(token).toEqual({ access_token: expect.any(String), expires_in: expect.any(Number), token_type: 'Bearer' });
    expect(Number.isInteger(token.expires_in) && token.expires_in > 0).toBe(true);
    const client = new ApiClient(platform.ready.management, token.access_token);
    expect((await client.request('GET', '/v1/tenants')).status).toBe(200);
    const other = await new ApiClient(platform.ready.auth).request('POST', '/oauth/token', {
      body: { ...right(), audience: platform.ready.management, grant_type: 'password' },
    });
    expect([other.status, other.body]).toMatchObject([400, { error: 'unsupported_grant_type' }]);
  });

  it('answers 401 to unknown clients [M26]', async () => {
    for (const wrong of [{ client_id: 'a'.repeat(32) }, { client_secret: 'a'.repeat(64) }]) {
      const answer = await requestToken(platform.ready.auth, { ...right(), ...wrong }, platform.ready.management);
      expect([answer.status, answer.body]).toEqual([
        401,
        { error: 'access_denied', error_description: 'Unauthorized' },
      ]);
    }
  });
});

describe('callers', () => {
  it('authenticated at one API are unauthenticated at the other [M44]', async () => {
    const tenantToken = new ApiClient(platform.ready.management, tenant.token);
    const atManagement = await tenantToken.request('GET', '/v1/tenants');
    const otherAudience = (url: string) => `The access token has another audience; request one for ${url}`;
    const challenge = (url: string) => `Bearer error="invalid_token", error_description="${otherAudience(url)}"`;
    expect([atManagement.status, atManagement.headers.get('www-authenticate')]).toEqual([
      401,
      challenge(platform.ready.management),
    ]);
    expect(atManagement.body).toMatchObject({ message: otherAudience(platform.ready.management) });
    const managementToken = new ApiClient(tenant.url, management.client.token);
    const atTenant = await managementToken.request('GET', '/v1/dids');
    expect([atTenant.status, atTenant.headers.get('www-authenticate'), atTenant.body]).toEqual([
      401,
      challenge(tenant.url),
      { code: 'Unauthorized', message: otherAudience(tenant.url) },
    ]);
    const credentials = { client_id: tenant.admin.clientId, client_secret: tenant.admin.clientSecret };
    expect((await requestToken(platform.ready.auth, credentials, platform.ready.management)).status).toBe(401);
    expect((await requestToken(platform.ready.auth, platform.managementClient(), tenant.url)).status).toBe(401);
  });

  it('need a bearer token for every other operation, otherwise 401 [M45, M50]', async () => {
    for (const token of [null, 'nonsense', `${management.client.token}x`])
      for (const [method, path] of [
        ['GET', '/v1/environments'],
        ['GET', '/v1/tenants'],
        ['POST', '/v1/tenants'],
        ['GET', `/v1/tenants/${tenant.id}`],
        ['DELETE', `/v1/tenants/${tenant.id}`],
        ['GET', `/v1/tenants/${tenant.id}/clients`],
        ['POST', `/v1/tenants/${tenant.id}/clients`],
      ] as const) {
        const answer = await management.client.request(method, path, { token });
        expect([path, answer.status, answer.headers.get('www-authenticate')]).toEqual([
          path,
          401,
          expect.stringMatching(/^Bearer/),
        ]);
      }
    expect((await management.tenants.retrieve(tenant.id)).status).toBe(200);
  });
});

describe('events', () => {
  it('record the START and the outcome of each operation [M47]', async () => {
    const { tenants, clients } = management;
    const created = await createTenant('watched');
    const watched = created.body.id;
    const client = await clients.create(watched, { name: 'x', roles: ['auditor'] });
    const calls = [
      ['TENANT_CREATE', created],
      ['TENANT_CLIENT_CREATE', client],
      ['TENANT_CLIENT_RETRIEVE_LIST', await clients.list(watched)],
      ['TENANT_CLIENT_DELETE', await clients.delete(watched, client.body.clientId)],
      ['TENANT_RETRIEVE', await tenants.retrieve(watched)],
    ] as const;
    const url = `http://${created.body.subdomain}`;
    const { clientId, clientSecret } = created.body.client;
    const token = await requestToken(platform.ready.auth, { client_id: clientId, client_secret: clientSecret }, url);
    const trail = new ApiClient(url, token.body.access_token);
    for (const [prefix, { headers }] of calls)
      expect(await waitForPair(trail, headers.get('x-request-id')!)).toEqual([`${prefix}_SUCCESS`, `${prefix}_START`]);
  });
});

describe('errors', () => {
  const body = {
    code: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
    type: expect.stringMatching(/^[A-Z][A-Za-z]+$/),
    message: expect.any(String),
    details: expect.any(Array),
  };

  it('are 400 for malformed or missing members, and name them [M49, M55]', async () => {
    const malformed = await createTenant('No Good');
    expect([malformed.status, malformed.body]).toEqual([
      400,
      { ...body, details: [{ value: 'No Good', msg: expect.any(String), param: 'subdomain', location: 'body' }] },
    ]);
    const path = await management.tenants.retrieve('42');
    expect([path.status, path.body]).toEqual([
      400,
      { ...body, details: [{ value: '42', msg: expect.any(String), param: 'tenantId', location: 'params' }] },
    ]);
  });

  it('are 404 for missing resources and those of others [M52]', async () => {
    const outsider = await registerManagementClient(platform, 'who looks around');
    for (const answer of [
      await management.tenants.retrieve(NO_SUCH),
      await outsider.tenants.retrieve(tenant.id),
      await outsider.clients.list(tenant.id),
      await management.clients.delete(tenant.id, 'a'.repeat(32)),
    ])
      expect([answer.status, answer.body]).toEqual([404, { ...body, code: 'NotFound', message: 'Resource Not Found' }]);
  });
});

it('paths start with /v1 [M58]', async () => {
  expect((await management.client.request('GET', '/v1/tenants')).status).toBe(200);
  expect((await management.client.request('GET', '/tenants')).status).toBe(404);
  expect((await management.client.request('GET', '/v2/tenants')).status).toBe(404);
});

it("a tenant client's role does not authenticate at the management API [M44]", async () => {
  const admin = await connectWithRoles(platform, management, tenant, ['admin']);
  const answer = await new ApiClient(platform.ready.management, admin.client.token).request(
    'GET',
    `/v1/tenants/${tenantId().tenantId}`,
  );
  expect(answer.status).toBe(401);
});
