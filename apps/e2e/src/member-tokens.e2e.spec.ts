import { decodeJwt, decodeProtectedHeader } from 'jose';
import { createDid, listDids, type Operation, type Role } from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  Cluster,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  ManagementApi,
  OpenIdProvider,
  PLATFORM_START_MS,
  requestToken,
  startPlatform,
  TenantApi,
  waitUntil,
  type Answer,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { callAt } from './faults/at-gateway.js';
import { AUDIENCE, closeSurroundings, openSurroundings } from './surroundings.js';

// Members of a tenant call its API with exchanged tokens (ADR 0127).

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** A change of roles, a removal and the end of a tenant take effect within a second. */
const WITHIN_MS = 1000;
const EXCHANGES = 100;

let provider: OpenIdProvider;
let platform: RunningPlatform;
let machine: ManagementApi;

beforeAll(async () => {
  const surroundings = await openSurroundings();
  ({ provider } = surroundings);
  const env = {
    ...surroundings.env,
    RATE_LIMIT_CLIENT_TOKEN: String(EXCHANGES),
    RATE_LIMIT_CLIENT_TOKEN_FAILURES: '10000',
    MAX_CALLS_IN_FLIGHT: '4',
  };
  platform = await startPlatform({ startTimeoutMs: PLATFORM_START_MS, env });
  machine = await connectManagement(platform);
}, 2 * PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await closeSurroundings();
});

interface Person {
  token: string;
  userId: string;
  email: string;
  api: ManagementApi;
}

let counter = 0;
const unique = (stem: string): string => `${stem}-${(++counter).toString(36)}`;
const signIn = async (name: string): Promise<Person> => {
  const email = `${name}@people.example`;
  const { access_token: token } = await provider.signIn({ sub: name, email, email_verified: true, name });
  const api = new ManagementApi(platform.ready.management, token);
  return { token, email, api, userId: expectStatus(await api.user.retrieve(), 200).id };
};
const memberOf = async (tenant: TenantUnderTest, roles: Role[], name = unique('member')): Promise<Person> => {
  const person = await signIn(name);
  expectStatus(await machine.members.invite(tenant.id, { email: person.email, roles }), 200);
  return person;
};

interface Exchanged {
  access_token: string;
  issued_token_type: string;
  token_type: string;
  expires_in: number;
}
type Form = Record<string, string | string[] | undefined>;
const formOf = (form: Form): URLSearchParams =>
  new URLSearchParams(
    Object.entries(form).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one) => [name, one] as [string, string]),
    ),
  );
const post = <T = Exchanged>(form: Form, base = platform.ready.auth): Promise<Answer<T>> =>
  new ApiClient(base).request<T>('POST', '/oauth/token', { body: formOf(form) });
const request = (token: string, audience: string): Form => ({
  grant_type: GRANT,
  subject_token: token,
  subject_token_type: ACCESS_TOKEN,
  audience,
});
const exchange = async ({ token }: Person, { url }: TenantUnderTest): Promise<string> =>
  expectStatus(await post(request(token, url)), 200).access_token;
const asMember = async (person: Person, tenant: TenantUnderTest): Promise<TenantApi> =>
  new TenantApi(tenant.url, await exchange(person, tenant));
const makeTenant = (): Promise<TenantUnderTest> => createTenantUnderTest(platform, machine, unique('members'));

/** Statuses of the call at each gateway, every one of which then knows the token. */
const atEveryGateway = async (url: string, token: string, operation: Operation = listDids): Promise<number[]> => {
  if (!(platform instanceof Cluster)) return [(await new ApiClient(url, token).call(operation)).status];
  const answers = await Promise.all(platform.gateways.map((it) => callAt(it, url, operation, { token })));
  return answers.map(({ status }) => status);
};

describe('a member of a tenant', () => {
  it('exchanges an access token for one of the tenant, and calls its API with the own roles [T845]', async () => {
    const tenant = await makeTenant();
    const ada = await memberOf(tenant, ['issuer']);
    const before = Math.floor(Date.now() / 1000);
    const answer = await post(request(ada.token, tenant.url));
    expect([answer.status, answer.body]).toEqual([
      200,
      { access_token: expect.any(String), issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', expires_in: 300 },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const { access_token: token } = answer.body;
    expect(decodeProtectedHeader(token)).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
    const claims = decodeJwt(token);
    expect(claims).toEqual({
      iss: platform.ready.auth,
      aud: tenant.url,
      sub: ada.userId,
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: claims.iat! + 300,
    });
    expect(claims.iat! - before).toBeLessThan(60);

    const api = new TenantApi(tenant.url, token);
    const did = expectStatus(await api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    expect(expectStatus(await api.dids.list(), 200).data.map((it) => it.did)).toContain(did.did);
    const refused = await api.analytics.list();
    expect([refused.status, refused.body]).toEqual([
      403,
      { code: 'Forbidden', message: 'The member needs one of these roles: admin, auditor' },
    ]);
    // Without scheme, as for clients.
    expectStatus(await post(request(ada.token, new URL(tenant.url).host)), 200);
  });

  it('is the actor of the calls in the trail of the tenant [T848]', async () => {
    const tenant = await makeTenant();
    const [ada, auditor] = [await memberOf(tenant, ['issuer']), await memberOf(tenant, ['auditor'])];
    const created = await (
      await asMember(ada, tenant)
    ).client.call(createDid as Operation, {
      body: { method: 'key', options: { keyType: 'Ed25519' } },
    });
    expectStatus(created, 201);
    const trail = await asMember(auditor, tenant);
    const eventsOf = async (): Promise<object[]> =>
      expectStatus(await trail.analytics.list({ managementUserIds: [ada.userId] }), 200).data;
    const made = await waitUntil(
      async () => (await eventsOf()).find((it) => (it as { type: string }).type === 'DID_CREATE_SUCCESS'),
      { what: "the member's call in the trail" },
    );
    expect(made).toMatchObject({ managementUserId: ada.userId });
    expect(made).not.toHaveProperty('clientId');
    // The same trail at the management API.
    const { data } = expectStatus(
      await auditor.api.client.request<{ data: object[] }>('GET', `/v1/tenants/${tenant.id}/events`, {
        query: { managementUserIds: ada.userId },
      }),
      200,
    );
    expect(data).toContainEqual(made);
    const others = await ada.api.client.request('GET', `/v1/tenants/${tenant.id}/events`);
    expect(others.status).toBe(403);
  });

  it('has records of access in the tenant for refused calls and reads of the trail [T877] [T878]', async () => {
    const tenant = await makeTenant();
    const [ada, auditor] = [await memberOf(tenant, ['issuer']), await memberOf(tenant, ['auditor'])];
    const refused = await (await asMember(ada, tenant)).analytics.list();
    expect(refused.status).toBe(403);
    const trail = await asMember(auditor, tenant);
    const read = await trail.analytics.list({ limit: 1 });
    const recordOf = ({ headers }: { headers: Headers }): Promise<object> =>
      waitUntil(
        async () => {
          const requestIds = [headers.get('x-request-id')!];
          return expectStatus(await trail.analytics.list({ categories: ['access'], requestIds }), 200).data[0];
        },
        { what: 'the access record' },
      );
    expect(await recordOf(refused)).toMatchObject({ type: 'ACCESS_REFUSED_FAIL', managementUserId: ada.userId });
    expect(await recordOf(read)).toMatchObject({
      type: 'EVENT_RETRIEVE_LIST_SUCCESS',
      managementUserId: auditor.userId,
    });
  });

  it('loses what a role allowed, and the membership, within a second at every gateway [T846]', async () => {
    const tenant = await makeTenant();
    const ada = await memberOf(tenant, ['issuer', 'auditor']);
    const token = await exchange(ada, tenant);
    const statuses = (): Promise<number[]> => atEveryGateway(tenant.url, token);
    const all = (status: number) => async () => (await statuses()).every((it) => it === status);
    expect(new Set(await statuses())).toEqual(new Set([200]));
    expectStatus(await machine.members.update(tenant.id, ada.userId, ['auditor']), 200);
    await waitUntil(all(403), { timeoutMs: WITHIN_MS, what: 'the end of the role' });
    expectStatus(await machine.members.update(tenant.id, ada.userId, ['issuer']), 200);
    await waitUntil(all(200), { timeoutMs: WITHIN_MS, what: 'the new role' });
    expectStatus(await machine.members.delete(tenant.id, ada.userId), 204);
    await waitUntil(all(401), { timeoutMs: WITHIN_MS, what: 'the end of the membership' });
    const again = await post<unknown>(request(ada.token, tenant.url));
    expect([again.status, again.body]).toMatchObject([400, { error: 'invalid_target' }]);
  });

  it('loses access with the tenant, within a second at every gateway [T846]', async () => {
    const tenant = await makeTenant();
    const ada = await memberOf(tenant, ['admin']);
    const token = await exchange(ada, tenant);
    expect(new Set(await atEveryGateway(tenant.url, token))).toEqual(new Set([200]));
    expectStatus(await machine.tenants.delete(tenant.id), 204);
    const hasEnded = async () => (await atEveryGateway(tenant.url, token)).every((it) => it === 401 || it === 404);
    await waitUntil(hasEnded, { timeoutMs: WITHIN_MS, what: 'the end of the tenant' });
    const again = await post<unknown>(request(ada.token, tenant.url));
    expect([again.status, again.body]).toMatchObject([400, { error: 'invalid_target' }]);
  });

  it('is restricted by restrictIdentityRoles as clients are [T848]', async () => {
    const tenant = await makeTenant();
    const api = await asMember(await memberOf(tenant, ['managed-issuer']), tenant);
    const create = () => api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } });
    expectStatus(await create(), 201);
    expectStatus(
      await machine.client.request('PUT', `/v1/tenants/${tenant.id}`, { body: { restrictIdentityRoles: true } }),
      200,
    );
    await waitUntil(async () => (await create()).status === 403, { timeoutMs: WITHIN_MS, what: 'the restriction' });
    expectStatus(await api.dids.list(), 200);
  });
});

describe('an exchanged token', () => {
  it('is refused at another tenant, at the management API, and as a subject token [T847]', async () => {
    const [tenant, other] = [await makeTenant(), await makeTenant()];
    const ada = await memberOf(tenant, ['admin']);
    expectStatus(await machine.members.invite(other.id, { email: ada.email, roles: ['admin'] }), 200);
    const token = await exchange(ada, tenant);
    for (const [base, path] of [
      [other.url, '/v1/dids'],
      [platform.ready.management, '/v1/tenants'],
      [platform.ready.management, '/v1/userinfo'],
    ] as const)
      expect([path, (await new ApiClient(base, token).request('GET', path)).status]).toEqual([path, 401]);
    const again = await post<unknown>(request(token, other.url));
    expect([again.status, again.body]).toMatchObject([400, { error: 'invalid_request' }]);
    // Nor is the person's own token one of the tenant's.
    expect((await new ApiClient(tenant.url, ada.token).request('GET', '/v1/dids')).status).toBe(401);
    // The revocation endpoint is for clients and their own tokens.
    const { clientId: client_id, clientSecret: client_secret } = tenant.admin;
    const body = formOf({ token, client_id, client_secret });
    expectStatus(await new ApiClient(platform.ready.auth).request('POST', '/oauth/revoke', { body }), 200);
    expectStatus(await new ApiClient(tenant.url, token).request('GET', '/v1/dids'), 200);
  });

  it('is issued 64 times at once, each with an id of its own [T849]', async () => {
    const tenant = await makeTenant();
    const ada = await memberOf(tenant, ['issuer']);
    const tokens = await Promise.all(Array.from({ length: 64 }, () => exchange(ada, tenant)));
    expect(new Set(tokens.map((token) => decodeJwt(token).jti)).size).toBe(64);
    expectStatus(await new TenantApi(tenant.url, tokens.at(-1)!).dids.list(), 200);
  });

  it('counts for the person, whatever client the exchange names [T849]', async () => {
    const tenant = await makeTenant();
    const [ada, bob] = [await memberOf(tenant, ['issuer']), await memberOf(tenant, ['issuer'])];
    const form = { ...request(ada.token, tenant.url), client_id: tenant.admin.clientId };
    let last = await post<unknown>(form);
    for (let n = 0; n < 3 * EXCHANGES && last.status === 200; n++) last = await post<unknown>(form);
    expect([last.status, last.body]).toMatchObject([429, { error: 'temporarily_unavailable' }]);
    await clientToken(platform, tenant.url, tenant.admin);
    await exchange(bob, tenant);
    // A client that used up its own limit: the same name as client_id of an exchange is not counted for it.
    const credentials = { client_id: tenant.admin.clientId, client_secret: tenant.admin.clientSecret };
    const own = await requestToken(platform.ready.auth, credentials, tenant.url);
    expect(own.status).toBe(200);
    for (let n = 0, status = 200; n < 3 * EXCHANGES && status === 200; n++)
      ({ status } = await requestToken(platform.ready.auth, credentials, tenant.url));
    expectStatus(await post(request(bob.token, tenant.url)), 200);
  });
});

describe('a token exchange is refused', () => {
  let tenant: TenantUnderTest;
  let ada: Person;
  let good: Form;
  beforeAll(async () => {
    tenant = await makeTenant();
    ada = await memberOf(tenant, ['admin']);
    good = request(ada.token, tenant.url);
  }, PLATFORM_START_MS);

  const refusalOf = async (form: Form, base?: string): Promise<[number, unknown]> => {
    const { status, body } = await post<unknown>(form, base);
    return [status, body];
  };
  const invalid = (error_description: string) => [400, { error: 'invalid_request', error_description }];
  const OTHER = 'subject_token must be an access token of a person for the management API';

  it.each<[string, Form, string]>([
    ['without subject_token', { subject_token: undefined }, 'Missing: subject_token'],
    ['with an empty subject_token', { subject_token: '' }, 'Missing: subject_token'],
    ['without subject_token_type', { subject_token_type: undefined }, 'Missing: subject_token_type'],
    ['without audience', { audience: undefined }, 'Missing: audience'],
    ['with another type', { subject_token_type: 'x' }, `subject_token_type must be ${ACCESS_TOKEN}`],
    ['that requests another type', { requested_token_type: 'x' }, `requested_token_type must be ${ACCESS_TOKEN}`],
    ['with two subject tokens', { subject_token: ['a', 'b'] }, 'subject_token must be sent once'],
    ['with an actor', { actor_token: 'x' }, 'actor_token must not be sent: there is no delegation'],
    ['with a resource', { resource: 'https://x.example' }, 'resource must not be sent: audience names the tenant'],
    ['with a scope', { scope: 'openid' }, 'scope must not be sent: the roles of the member are read at each call'],
    [
      'with a secret',
      { client_id: 'x', client_secret: 'y' },
      'client_secret must not be sent: a token exchange has no client authentication',
    ],
    ['with text that is no token', { subject_token: 'nonsense' }, OTHER],
    ['with a token that has padding', { subject_token: 'e30.e30.e30=' }, OTHER],
  ])('%s [T850]', async (_what, over, description) => {
    expect(await refusalOf({ ...good, ...over })).toEqual(invalid(description));
  });

  it('with a token of a client, of another authorization server, or that the management API refuses [T851]', async () => {
    const { id_token } = await provider.signIn({ sub: 'ada-of-all', email: ada.email });
    const elsewhere = await OpenIdProvider.start(AUDIENCE);
    try {
      const stranger = await elsewhere.signIn({ sub: 'ada', email: ada.email, email_verified: true });
      // It names our server and was signed by the other one.
      const forged = [
        stranger.access_token.split('.')[0],
        ada.token.split('.')[1],
        stranger.access_token.split('.')[2],
      ].join('.');
      const altered = `${ada.token.slice(0, -2)}AA`;
      for (const [token, description] of [
        [tenant.token, OTHER],
        [machine.client.token!, OTHER],
        [stranger.access_token, OTHER],
        [forged, 'The access token is not valid'],
        [altered, 'The access token is not valid'],
        [id_token, 'The access token must have the typ at+jwt in its header (RFC 9068 section 2.1)'],
        [
          await provider.machineToken(),
          'The access token belongs to a machine: its sub is its client; sign in as a person',
        ],
      ] as const)
        expect(await refusalOf({ ...good, subject_token: token })).toEqual(invalid(description));
    } finally {
      await elsewhere.stop();
    }
  });

  it('for an audience that is no tenant of the person, in the same words for each of them [T852]', async () => {
    const foreign = await makeTenant();
    const { host, protocol } = new URL(tenant.url);
    const base = host.slice(host.indexOf('.') + 1);
    const target = [
      400,
      {
        error: 'invalid_target',
        error_description: 'audience must be the address of a tenant that the person is a member of',
      },
    ];
    for (const audience of [
      foreign.url,
      `${protocol}//no-such-tenant.${base}`,
      platform.ready.management,
      platform.ready.auth,
      `${tenant.url}/v1`,
      `https://user@${host}`,
      'nonsense and more',
      '\u0000',
    ])
      expect([audience, ...(await refusalOf({ ...good, audience }))]).toEqual([audience, ...target]);
    for (const audience of [[tenant.url, tenant.url], [tenant.url, foreign.url], 'x'.repeat(301)])
      expect(await refusalOf({ ...good, audience })).toMatchObject([400, { error: 'invalid_target' }]);
    // Invited, but not accepted.
    const guest = await signIn(unique('guest'));
    expect(await refusalOf({ ...good, subject_token: guest.token })).toEqual(target);
  });

  it('as JSON, at the management host, and with a body beyond the limit [T850]', async () => {
    const auth = new ApiClient(platform.ready.auth);
    const json = await auth.request('POST', '/oauth/token', { body: good });
    expect([json.status, json.body]).toEqual(
      invalid('A token exchange must be sent as application/x-www-form-urlencoded'),
    );
    expect(await refusalOf(good, platform.ready.management)).toEqual([
      400,
      {
        error: 'unsupported_grant_type',
        error_description: `Tokens are exchanged at an authorization host: ${platform.ready.auth}/oauth/token`,
      },
    ]);
    expect((await post({ ...good, subject_token: 'x'.repeat(20_000) })).status).toBe(413);
    // Form members that name nothing, as many as fit.
    expectStatus(
      await post({ ...good, ...Object.fromEntries(Array.from({ length: 900 }, (_, n) => [`m${n}`, ''])) }),
      200,
    );
    const { status } = await auth.request('POST', '/oauth/token', {
      body: formOf(good),
      headers: { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` },
    });
    expect(status).toBe(400);
  });

  it('without a line in the log that has one of the tokens [T851]', async () => {
    const token = await exchange(ada, tenant);
    const log = platform.log();
    for (const secret of [ada.token, token]) expect(log).not.toContain(secret.split('.')[2]);
  });
});

describe('members and clients of a tenant', () => {
  it('have calls in flight of their own, so that neither shut out the others [T849]', async () => {
    const tenant = await makeTenant();
    const token = await exchange(await memberOf(tenant, ['admin']), tenant);
    const flood = (bearer: string) => {
      const client = new ApiClient(tenant.url, bearer);
      return Promise.all(Array.from({ length: 40 }, async () => (await client.request('GET', '/v1/dids')).status));
    };
    const calm = async (bearer: string): Promise<number[]> => {
      const client = new ApiClient(tenant.url, bearer);
      const statuses: number[] = [];
      for (let n = 0; n < 20; n++) statuses.push((await client.request('GET', '/v1/dids')).status);
      return statuses;
    };
    for (const [many, one] of [
      [token, tenant.token],
      [tenant.token, token],
    ] as const) {
      const [flooded, statuses] = await Promise.all([flood(many), calm(one)]);
      expect(flooded).toContain(200);
      expect(new Set(statuses)).toEqual(new Set([200]));
    }
  });
});
