import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  PLATFORM_START_MS,
  requestToken,
  sharedPlatform,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
  servedDocument,
} from '@attestry/testing';
import { waitForPair } from './wait-for-pair.js';

// Statements of the tenant API specification, by their numbers in docs/reference/conformance.md.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const DID_ROLES = ['admin', 'issuer', 'verifier', 'dts-provider', 'managed-issuer'] as const;

let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'stated-tenant');
}, PLATFORM_START_MS);

const createKeyDid = async () =>
  expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);

describe('a tenant', () => {
  it('has its own host, and its tokens are issued by another server [T1, T54]', async () => {
    expect(new URL(tenant.url).host).not.toBe(new URL(platform.ready.auth).host);
    const right = {
      client_id: tenant.admin.clientId,
      client_secret: tenant.admin.clientSecret,
      audience: tenant.url,
      grant_type: 'client_credentials',
    };
    const ask = (body: object) => new ApiClient(platform.ready.auth).request('POST', '/oauth/token', { body });
    expect((await ask(right)).status).toBe(200);
    const here = new ApiClient(tenant.url);
    expect((await here.request('POST', '/oauth/token', { body: right })).status).toBe(404);
    const { client_secret: _, ...lacking } = right;
    expect((await ask(lacking)).body).toMatchObject({ error: 'invalid_request' });
    const advised = `Unauthorized; tenant clients need audience, the address of the tenant: http://<subdomain>.${new URL(platform.ready.management).host.replace('management.', '')}`;
    // Without an audience the token is for the management API, where a tenant's client is unknown.
    const { status, body } = await ask({ ...right, audience: undefined });
    expect([status, body]).toEqual([401, { error: 'access_denied', error_description: advised }]);
    const other = { ...right, grant_type: 'authorization_code' };
    expect((await ask(other)).body).toMatchObject({ error: 'unsupported_grant_type' });
    // The advice is the same for one that cannot be a tenant's address here. The address of the management API is right for its clients.
    for (const [audience, isAdvised] of [
      ['http://elsewhere.localhost', true],
      [tenant.url.replace('http:', 'https:'), true],
      [platform.ready.auth, true],
      [platform.ready.management, false],
      [tenant.url.replace('//', '//no-'), false],
    ] as const) {
      const refused = await ask({ ...right, audience });
      const error_description = isAdvised ? advised : 'Unauthorized';
      expect([audience, refused.status, refused.body]).toEqual([
        audience,
        401,
        { error: 'access_denied', error_description },
      ]);
    }
  });

  it('issues tokens with their lifetime in seconds [T55]', async () => {
    const credentials = { client_id: tenant.admin.clientId, client_secret: tenant.admin.clientSecret };
    const token = expectStatus(await requestToken(platform.ready.auth, credentials, tenant.url), 200);
    expect(token).toEqual({ access_token: expect.any(String), expires_in: expect.any(Number), token_type: 'Bearer' });
    const { exp, iat } = JSON.parse(
      Buffer.from(token.access_token.split('.')[1]!, 'base64url').toString('utf8'),
    ) as Record<string, number>;
    expect(token.expires_in).toBe(exp! - iat!);
    // Each request returns another one.
    const next = expectStatus(await requestToken(platform.ready.auth, credentials, tenant.url), 200);
    expect(next.access_token).not.toBe(token.access_token);
  });

  it('answers 401 without a bearer token, with the reason in the body [T53, T647]', async () => {
    for (const path of ['/v1/dids', '/v1/webhooks', '/v1/users', '/v1/events']) {
      expect((await tenant.api.client.request('GET', path)).status).toBe(200);
      for (const authorization of [
        '',
        'Basic YTpi',
        `Token ${tenant.token}`,
        'Bearer',
        'Bearer nonsense',
        'Bearer "a b"',
      ]) {
        const answer = await tenant.api.client.request('GET', path, {
          token: null,
          ...(authorization && { headers: { authorization } }),
        });
        const message = !authorization
          ? 'The request has no access token'
          : authorization.startsWith('Bearer ')
            ? `The value after Bearer is no JWT, as access tokens are; request one at ${platform.ready.auth}/oauth/token`
            : 'The Authorization header must be Bearer, a space and an access token';
        expect([path, authorization, answer.status]).toEqual([path, authorization, 401]);
        expect(answer.body).toEqual({ code: 'Unauthorized', message });
        expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
      }
    }
  });

  it('grants its default client full access [T57]', async () => {
    const [first] = expectStatus(await management.clients.list(tenant.id), 200).data;
    expect([first!.clientId, first!.roles]).toEqual([tenant.admin.clientId, ['admin']]);
  });
});

describe('lists', () => {
  it('have data and a cursor for the next page, and are empty past the end [T2]', async () => {
    for (let n = 0; n < 3; n++) await createKeyDid();
    const all = expectStatus(await tenant.api.dids.list(), 200).data.map(({ did }) => did);
    const found: string[] = [];
    let cursor: string | undefined;
    for (let page = 0; page <= all.length; page++) {
      const { data, nextCursor } = expectStatus(
        await tenant.api.dids.list({ limit: 1, ...(cursor && { cursor }) }),
        200,
      );
      found.push(...data.map(({ did }) => did));
      if (!nextCursor) break;
      cursor = nextCursor;
    }
    expect(found).toEqual(all);
    const last = all.at(-1)!;
    const before = expectStatus(await tenant.api.dids.list({ limit: all.length - 1 }), 200).nextCursor;
    expectStatus(await tenant.api.dids.delete(last), 204);
    expect(expectStatus(await tenant.api.dids.list({ cursor: before }), 200)).toEqual({ data: [] });
  });

  it('have 100 entries by default, and at most 1000 [T3]', async () => {
    const { users } = tenant.api;
    for (let made = 0; made < 104; made += 8)
      await Promise.all(Array.from({ length: 8 }, () => users.create({ claims: {} })));
    expect(expectStatus(await users.list(), 200).data).toHaveLength(100);
    expect(expectStatus(await users.list({ limit: 1000 }), 200).data).toHaveLength(104);
    expect(expectStatus(await users.list({ limit: 1 }), 200).data).toHaveLength(1);
    for (const limit of ['0', '1001', '-1', '1.5', 'ten', '']) {
      const refused = await users.list({ limit: limit as never });
      expect([limit, refused.status, refused.body]).toMatchObject([limit, 400, { details: [{ param: 'limit' }] }]);
    }
  });
});

describe('DIDs', () => {
  const record = {
    did: expect.stringMatching(/^did:(?:key|web):/),
    localMetadata: {
      keys: expect.any(Array),
      registered: expect.any(Number),
      initialDidDocument: expect.any(Object),
    },
  };

  it('are created with their keys and document [T16, T17, T21, T22, T28]', async () => {
    const created = await createKeyDid();
    expect(created).toEqual({ ...record, registrationStatus: 'COMPLETED' });
    const { did, localMetadata } = created;
    expect(Math.abs(Date.now() - localMetadata.registered)).toBeLessThan(60_000);
    for (const key of localMetadata.keys) {
      expect(key.kmsKeyId).toMatch(UUID);
      expect(JSON.stringify(localMetadata.initialDidDocument)).toContain(`"${key.didDocumentKeyId}"`);
    }
    // did:key method: the identifier is the public key, and so is the fragment of its verification method.
    const [method] = localMetadata.initialDidDocument['verificationMethod'] as { id: string }[];
    expect(method!.id).toBe(`${did}#${did.slice('did:key:'.length)}`);
  });

  it('of method web name the host that serves their document [T18, T20, T23]', async () => {
    const created = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
    expect(created.did).toBe(`did:web:${encodeURIComponent(tenant.host)}`);
    const document = created.localMetadata.initialDidDocument;
    expect(Object.keys(document).sort()).toEqual(
      [
        '@context',
        'assertionMethod',
        'authentication',
        'capabilityDelegation',
        'capabilityInvocation',
        'id',
        'keyAgreement',
        'verificationMethod',
      ].sort(),
    );
    for (const method of document['verificationMethod'] as Record<string, unknown>[]) {
      expect(method).toMatchObject({ id: expect.any(String), controller: created.did, type: expect.any(String) });
      expect(method['publicKeyJwk'] ?? method['publicKeyBase58'] ?? method['publicKeyMultibase']).toBeDefined();
    }
    const served = await new ApiClient(tenant.url).request('GET', '/.well-known/did.json');
    expect([served.status, served.body]).toEqual([200, servedDocument(document, tenant.url)]);
    const lacking = await tenant.api.dids.create({ method: 'web', options: {} });
    expect(lacking.status).toBe(400);
  });

  it('need a method, web or key [T19, T64]', async () => {
    for (const body of [{}, { options: { keyType: 'Ed25519' } }, { method: 'ion', options: { url: tenant.host } }]) {
      const refused = await tenant.api.dids.create(body as never);
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { code: 'BadRequest', details: expect.arrayContaining([expect.objectContaining({ param: 'method' })]) },
      ]);
    }
  });

  it('are listed without their registration status [T29]', async () => {
    const { did } = await createKeyDid();
    const { data } = expectStatus(await tenant.api.dids.list({ limit: 1000 }), 200);
    for (const listed of data) expect(listed).toEqual(record);
    expect(data.map((listed) => listed.did)).toContain(did);
  });

  it('can be managed with the specified roles [T27]', async () => {
    for (const role of [
      'admin',
      'issuer',
      'verifier',
      'dts-provider',
      'managed-issuer',
      'holder',
      'auditor',
    ] as const) {
      const { dids } = await connectWithRoles(platform, management, tenant, [role]);
      const allowed = (DID_ROLES as readonly string[]).includes(role);
      expect([role, (await dids.list()).status]).toEqual([role, allowed ? 200 : 403]);
      const created = await dids.create({ method: 'key', options: { keyType: 'Ed25519' } });
      expect([role, created.status]).toEqual([role, allowed ? 201 : 403]);
    }
  });
});

describe('webhooks', () => {
  const url = 'https://hooks.example.com/one';

  it('are created, read, listed, replaced and deleted [T31, T32, T33, T35, T36, T37, T38, T39]', async () => {
    const { webhooks } = tenant.api;
    const created = expectStatus(await webhooks.create({ events: ['OpenIdCredentialIssued'], url }), 201);
    expect(created).toEqual({
      id: expect.stringMatching(UUID),
      events: ['OpenIdCredentialIssued'],
      url,
      disabled: false,
    });
    expect(expectStatus(await webhooks.retrieve(created.id), 200)).toEqual(created);
    expect(expectStatus(await webhooks.list(), 200).data).toContainEqual(created);
    const request = { events: ['OpenIdCredentialIssuedSummary' as const], url: 'https://hooks.example.com/two' };
    const updated = expectStatus(await webhooks.update(created.id, request), 200);
    expect(updated).toEqual({ ...created, ...request });
    for (const body of [{ url }, { events: ['OpenIdCredentialIssued'] }, { events: ['Nothing'], url }])
      expect((await webhooks.create(body as never)).status).toBe(400);
    const deleted = await webhooks.delete(created.id);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await webhooks.retrieve(created.id)).status).toBe(404);
  });

  it('can be replaced with the specified roles [T38]', async () => {
    const { id } = expectStatus(await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url }), 201);
    for (const role of ['admin', 'issuer', 'managed-issuer', 'verifier', 'holder', 'auditor'] as const) {
      const { webhooks } = await connectWithRoles(platform, management, tenant, [role]);
      const allowed = ['admin', 'issuer', 'managed-issuer'].includes(role);
      const answer = await webhooks.update(id, { events: ['OpenIdCredentialIssued'], url });
      expect([role, answer.status]).toEqual([role, allowed ? 200 : 403]);
    }
  });

  it('have a public key set [T34, T40, T60]', async () => {
    const { keys } = expectStatus(
      await new ApiClient(tenant.url).request<{ keys: unknown[] }>('GET', '/v1/webhooks/jwks'),
      200,
    );
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys)
      expect(key).toMatchObject({
        ...{ kty: 'OKP', crv: 'Ed25519', use: 'sig' },
        ...{ kid: expect.any(String), x: expect.stringMatching(/^[\w-]{43}$/) },
      });
    expect(JSON.stringify(keys)).not.toContain('"d"');
  });
});

describe('every call', () => {
  it('records its events [T61]', async () => {
    const { id } = expectStatus(
      await tenant.api.webhooks.create({ events: ['OpenIdCredentialIssued'], url: 'https://hooks.example.com' }),
      201,
    );
    for (const [prefix, outcome, answer] of [
      ['DID_CREATE', 'SUCCESS', await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } })],
      ['DID_CREATE', 'FAIL', await tenant.api.dids.create({} as never)],
      ['DID_RETRIEVE_LIST', 'SUCCESS', await tenant.api.dids.list()],
      ['WEBHOOK_UPDATE', 'FAIL', await tenant.api.webhooks.update(id, { events: [], url: '' })],
      [
        'WEBHOOK_UPDATE',
        'SUCCESS',
        await tenant.api.webhooks.update(id, { events: ['OpenIdCredentialIssued'], url: 'https://hooks.example.com' }),
      ],
    ] as const)
      expect(await waitForPair(tenant.api.client, answer.headers.get('x-request-id')!)).toEqual([
        `${prefix}_${outcome}`,
        `${prefix}_START`,
      ]);
  });

  it('has the three rate limit headers in its response, whatever the status [T67]', async () => {
    const now = Math.floor(Date.now() / 1000);
    const { client } = tenant.api;
    const answers = [
      await client.request('GET', '/v1/dids'),
      await client.request('GET', '/v1/dids', { token: null }),
      await client.request('GET', '/v1/nothing'),
      await client.request('PUT', '/v1/dids'),
      await client.request('POST', '/v1/dids', { body: '{' }),
      await client.request('GET', '/.well-known/openid-credential-issuer'),
      await client.request('OPTIONS', '/v1/openid/nonce'),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 401, 404, 405, 400, 200, 204]);
    for (const { headers } of answers) {
      const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
        Number(headers.get(`x-ratelimit-${name}`)),
      );
      expect(limit).toBeGreaterThan(0);
      expect(remaining).toBeLessThanOrEqual(limit!);
      expect(reset).toBeGreaterThanOrEqual(now);
      expect(reset).toBeLessThanOrEqual(now + 120);
    }
  });
});

it('has a version in its path [T70]', async () => {
  for (const [path, status] of [
    ['/v1/dids', 200],
    ['/v2/credentials/jwt-vc/configurations', 200],
    ['/dids', 404],
    ['/v3/dids', 404],
  ] as const)
    expect([path, (await tenant.api.client.request('GET', path)).status]).toEqual([path, status]);
});
