import { get } from 'node:http';
import { connect } from 'node:net';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  sharedPlatform,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';

let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'edge');
}, PLATFORM_START_MS);

const json = { 'content-type': 'application/json' };

/** `fetch` normalizes host names; this sends them unchanged. */
const statusOnHost = (host: string) =>
  new Promise<number>((resolve, reject) => {
    const options = { port: platform.ready.port, path: '/v1/webhooks/jwks', headers: { host } };
    get({ host: '127.0.0.1', ...options }, (response) => resolve(response.resume().statusCode!)).on('error', reject);
  });

describe('hosts', () => {
  it('without a tenant are answered with 404 in the tenant shape', async () => {
    const answer = await new ApiClient(platform.tenantUrl('nobody')).request('GET', '/v1/dids');
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({ code: 'NotFound', message: expect.stringMatching(/^This host is not served: /) });
    expect(answer.text).not.toMatch(/nobody|localhost/);
  });

  it('are compared without case and trailing dot', async () => {
    const host = tenant.host.replace('edge.', 'EDGE.').replace('localhost:', 'localhost.:');
    expect(await statusOnHost(host)).toBe(200);
    expect(await statusOnHost(`x${host}`)).toBe(404);
  });

  it('are not taken from X-Forwarded-Host of an untrusted client', async () => {
    const headers = { 'x-forwarded-host': tenant.host };
    const answer = await new ApiClient(platform.tenantUrl('nobody')).request('GET', '/v1/webhooks/jwks', { headers });
    expect(answer.status).toBe(404);
  });

  it('serve only their own operations', async () => {
    expect((await tenant.api.client.request('GET', '/v1/tenants')).status).toBe(404);
    expect((await management.client.request('GET', '/v1/dids')).status).toBe(404);
    expect((await new ApiClient(platform.ready.auth).request('GET', '/v1/dids')).status).toBe(404);
    expect((await new ApiClient(platform.tenantUrl('contexts')).request('GET', '/v1/dids')).status).toBe(404);
  });

  it.each(['management', 'auth', 'www', 'api', 'admin', 'console', 'health', 'status', 'mail', 'contexts'])(
    'reserve the name %s for the platform',
    async (subdomain) => {
      const [environment] = (await management.environments.list()).body.data;
      const answer = await management.tenants.create({ subdomain, environmentId: environment!.id });
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ details: [{ param: 'subdomain', location: 'body' }] });
    },
  );
});

describe('paths and methods', () => {
  it('an unknown path is a 404 in the shape of its host, with the nearest path or where it is [T649]', async () => {
    const tenantCall = async (method: string, path: string) => (await tenant.api.client.request(method, path)).body;
    const none = 'No operation has this path';
    expect(await tenantCall('GET', '/v9/nothing')).toEqual({
      code: 'NotFound',
      message: `${none}; the paths are listed at ${tenant.url}/docs`,
    });
    for (const [path, nearest] of [
      ['/v1/user', '/v1/users'],
      ['/v2/dids', '/v1/dids'],
    ])
      expect(await tenantCall('GET', path!)).toEqual({
        code: 'NotFound',
        message: `${none}; did you mean ${nearest}?`,
      });
    for (const path of ['/oauth/token', '/token', '/v1/token'])
      expect(await tenantCall('POST', path)).toEqual({
        code: 'NotFound',
        message: `${none}; access tokens of clients are issued by POST ${platform.ready.auth}/oauth/token, those of wallets by POST ${tenant.url}/v1/oauth/token`,
      });
    expect((await management.client.request('GET', '/v1/tenant')).body).toEqual({
      code: 'NotFound',
      type: expect.any(String),
      message: `${none}; did you mean /v1/tenants?`,
      details: [],
    });
    // An unknown id has no such advice, a known path with another method is a 405.
    expect(await tenantCall('GET', `/v1/users/${tenant.id}`)).toEqual({
      code: 'NotFound',
      message: 'Resource Not Found',
    });
    expect(await tenantCall('PUT', '/v1/users')).toMatchObject({ code: 'MethodNotAllowed' });
  });

  it.each([
    `/v1/${'u'.repeat(8000)}`,
    `/v1${'/a'.repeat(4000)}`,
    '/v1/user%0d%0aset-cookie:%20a=b',
    '/v1/%3Cscript%3E',
    '/v1/user%00',
    '/v1/"secret"',
  ])('an unknown path is not repeated [T650]', async (path) => {
    const { status, text, headers } = await tenant.api.client.request('GET', path);
    expect([status, JSON.parse(text)]).toEqual([
      404,
      { code: 'NotFound', message: expect.stringMatching(/^No operation has this path[\x20-\x7e]{1,200}$/) },
    ]);
    expect(text).not.toMatch(/cookie|script|secret|uuu/);
    expect(headers.get('set-cookie')).toBeNull();
  });

  it.each(['PATCH', 'PUT', 'DELETE'])('%s on a path that has other methods is a 405 with Allow', async (method) => {
    const answer = await tenant.api.client.request(method, '/v1/dids', { headers: json, body: '{}' });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
    expect(answer.body).toMatchObject({ code: 'MethodNotAllowed' });
  });

  it('HEAD is answered like GET, without content', async () => {
    const got = await tenant.api.client.request('GET', '/v1/dids');
    const answer = await tenant.api.client.request('HEAD', '/v1/dids');
    expect([answer.status, answer.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-length', 'cache-control'])
      expect(answer.headers.get(name)).toBe(got.headers.get(name));
    const refused = await tenant.api.client.request('HEAD', '/v1/dids', { token: null });
    expect([refused.status, refused.text]).toEqual([401, '']);
    const posted = await tenant.api.client.request('HEAD', '/v1/openid/nonce', { token: null });
    expect(posted.status).toBe(405);
  });

  it('creates one of twenty configurations of one type that are created concurrently', async () => {
    const configuration = {
      type: 'Once',
      name: 'Once',
      issuer: { name: 'x' },
      claimMappings: { a: { defaultValue: 1 } },
    };
    const did = await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } });
    expect(did.status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.api.jwtVc.create(configuration)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array.from({ length: 19 }, () => 400)]);
  });

  it('creates all of twenty clients that are created concurrently', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        management.clients.create(tenant.id, { name: `client ${n}`, roles: ['auditor'] }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 201));
  });

  it('OPTIONS returns the allowed methods and headers to browsers', async () => {
    const answer = await tenant.api.client.request('OPTIONS', '/v1/openid/credential', {
      headers: { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
      token: null,
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-methods')).toBe('POST');
    expect(answer.headers.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, DPoP, OAuth-Client-Attestation, OAuth-Client-Attestation-PoP',
    );
    expect((await tenant.api.client.request('OPTIONS', '/v9/nothing')).status).toBe(404);
  });
});

describe('bodies', () => {
  it('over 1 MiB are a 413', async () => {
    const claims = { note: 'x'.repeat(1_048_576) };
    const answer = await tenant.api.client.request('POST', '/v1/users', { body: { claims } });
    expect(answer.status).toBe(413);
    expect(answer.body).toMatchObject({ code: 'PayloadTooLarge' });
  });

  it.each(['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'application/json-seq'])(
    'of type %s are a 415',
    async (type) => {
      const answer = await tenant.api.client.request('POST', '/v1/users', {
        headers: { 'content-type': type },
        body: '{}',
      });
      expect(answer.status).toBe(415);
      expect(answer.body).toMatchObject({ code: 'UnsupportedMediaType' });
    },
  );

  it.each(['{', '{"claims":}', '"text"', '[]', 'null', '{"claims":{}}}', ''])('that are %p are a 400', async (body) => {
    const answer = await tenant.api.client.request('POST', '/v1/dids', { headers: json, body });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({
      code: 'BadRequest',
      message: 'Validation Error',
      details: expect.arrayContaining([expect.objectContaining({ location: 'body' })]),
    });
  });

  it('with members named as in Object.prototype keep them, except __proto__ [T609]', async () => {
    const send = (body: string) => tenant.api.client.request('POST', '/v1/users', { headers: json, body });
    const refused = await send('{"claims":{"__proto__":{"admin":true},"given_name":"Ada"}}');
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { details: [{ msg: 'must not have a member named __proto__', param: 'claims', location: 'body' }] },
    ]);
    const names = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__');
    const claims = Object.fromEntries(names.map((name) => [name, { [name]: name }]));
    const kept = await send(JSON.stringify({ claims }));
    expect(kept.status).toBe(201);
    expect((kept.body as { claims: object }).claims).toEqual(claims);
  });

  it('are answered with all their faults at once', async () => {
    const answer = await tenant.api.client.request('POST', '/v1/webhooks', { body: { events: 'all', url: 4 } });
    expect(answer.status).toBe(400);
    const { details } = answer.body as { details: { param: string; value?: unknown }[] };
    expect([...new Set(details.map(({ param }) => param))].sort()).toEqual(['events', 'url']);
    expect(details.find(({ param }) => param === 'url')?.value).toBe(4);
  });

  it('with claims are not repeated in an error', async () => {
    const answer = await tenant.api.users.create({ claims: 'my secret claim' as never });
    expect(answer.status).toBe(400);
    expect(answer.text).not.toContain('my secret claim');
  });
});

describe('health', () => {
  it.each(['127.0.0.1', 'nobody.localhost', 'management.localhost', 'edge.localhost', 'example.com'])(
    'is served on the host %s',
    async (host) => {
      const client = new ApiClient(`http://${host}:${platform.ready.port}`);
      expect((await client.request('GET', '/health/live')).status).toBe(200);
      const ready = await client.request('GET', '/health/ready');
      // The checks are the operator's, on the admin port.
      expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
    },
  );
});

describe('request ids', () => {
  it('are new for every call, whatever the caller sends', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await tenant.api.client.request('GET', '/v1/dids', { headers: { 'x-request-id': 'mine' } });
        return answer.headers.get('x-request-id');
      }),
    );
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain('mine');
  });
});

describe('connections', () => {
  it('without valid HTTP are closed, and the others continue', async () => {
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(platform.ready.port, '127.0.0.1', () => socket.write('GARBAGE\r\n\r\n'));
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('end', () => resolve(text));
      socket.on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect((await tenant.api.dids.list()).status).toBe(200);
  });
});
