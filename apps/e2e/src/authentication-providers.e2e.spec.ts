import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  OpenIdProvider,
  PLATFORM_START_MS,
  sharedPlatform,
  settledRecords,
  type Answer,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

const SECRET = 'the-secret-of-the-client-0815';
const MASKED = '**********-0815';
const NO_SUCH = '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11';

let platform: PlatformAddresses;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
/** Has no provider: hostile documents are shown to it. */
let victim: TenantUnderTest;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = await sharedPlatform();
  const management = await connectManagement(platform);
  [tenant, victim] = await Promise.all([
    createTenantUnderTest(platform, management, 'signing-in'),
    createTenantUnderTest(platform, management, 'victim'),
  ]);
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const faultOf = ({ status, body }: Answer) => {
  const { code, message, details } = body as { code: string; message: string; details?: { param: string }[] };
  return [status, code, message, details?.map(({ param }) => param)];
};

describe('an authentication provider over HTTP', () => {
  it('is created for a real OpenID provider, with its defaults [T42, T43, T45, T46, T48]', async () => {
    const { authenticationProviders: providers } = tenant.api;
    const created = await providers.create({ url: provider.issuer, clientId: 'attestry', clientSecret: SECRET });
    const made = expectStatus(created, 201);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      redirectUrl: `${tenant.url}/v1/oauth/authentication/callback`,
      url: provider.issuer,
      clientId: 'attestry',
      clientSecret: MASKED,
      scope: ['openid', 'profile', 'email'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      staticRequestParameters: {},
      forwardedRequestParameters: [],
      claimsToPersist: [],
      requiredClaims: {},
    });
    expect(created.text).not.toContain(SECRET);
    expect(created.headers.get('cache-control')).toBe('no-store');
  });

  it('is retrieved and listed as returned at its creation [T49, T50]', async () => {
    const { authenticationProviders: providers } = tenant.api;
    const { data } = expectStatus(await providers.list({ limit: 1 }), 200);
    expect(data).toHaveLength(1);
    expect(expectStatus(await providers.retrieve(data[0]!.id), 200)).toEqual(data[0]);
    expect((await providers.retrieve(NO_SUCH)).status).toBe(404);
    expect((await victim.api.authenticationProviders.retrieve(data[0]!.id)).status).toBe(404);
    expect(expectStatus(await victim.api.authenticationProviders.list(), 200)).toEqual({ data: [] });
  });

  it('is the only one of its tenant: a second is refused with 409', async () => {
    const second = await tenant.api.authenticationProviders.create({ url: provider.issuer, clientId: 'second' });
    expect(faultOf(second).slice(0, 2)).toEqual([409, 'Conflict']);
  });

  it('is replaced by an update, which requires a client id and keeps a secret that it does not contain [T43, T46, T51]', async () => {
    const { authenticationProviders: providers } = tenant.api;
    const [before] = expectStatus(await providers.list(), 200).data;
    const body = {
      url: provider.issuer,
      clientId: 'other',
      scope: ['openid', 'email'],
      tokenEndpointAuthMethod: 'client_secret_post' as const,
      staticRequestParameters: { prompt: 'login', max_age: 60 },
      forwardedRequestParameters: ['login_hint'],
      claimsToPersist: ['email', 'given_name'],
    };
    const { id, redirectUrl } = before!;
    const after = { ...body, id, redirectUrl, clientSecret: MASKED, requiredClaims: {} };
    expect(expectStatus(await providers.update(id, body), 200)).toEqual(after);
    expect(expectStatus(await providers.update(id, { ...body, clientSecret: MASKED }), 200)).toEqual(after);
    expect(expectStatus(await providers.retrieve(id), 200)).toEqual(after);
    const { clientId: _, ...nameless } = body;
    expect(faultOf(await providers.update(id, nameless as never))).toEqual([
      400,
      'BadRequest',
      'Validation Error',
      ['clientId'],
    ]);
    expect((await providers.update(NO_SUCH, body)).status).toBe(404);
  });

  it('records the events of each operation, without its secret', async () => {
    const { api } = tenant;
    const { id } = expectStatus(await api.authenticationProviders.list(), 200).data[0]!;
    const body = { url: provider.issuer, clientId: 'other', clientSecret: SECRET };
    for (const [prefix, answer] of [
      ['CREATE', await api.authenticationProviders.create(body)],
      ['RETRIEVE_LIST', await api.authenticationProviders.list()],
      ['RETRIEVE', await api.authenticationProviders.retrieve(id)],
      ['UPDATE', await api.authenticationProviders.update(id, body)],
      ['DELETE', await api.authenticationProviders.delete(NO_SUCH)],
    ] as [string, Answer][]) {
      const query = { requestIds: [answer.headers.get('x-request-id')!] };
      await settledRecords(api);
      const received = await api.analytics.list(query);
      const outcome = answer.status < 300 ? 'SUCCESS' : 'FAIL';
      expect(expectStatus(received, 200).data.map(({ type, category }) => [type, category])).toEqual([
        [`USER_AUTHENTICATION_PROVIDER_${prefix}_${outcome}`, 'authentication-provider'],
        [`USER_AUTHENTICATION_PROVIDER_${prefix}_START`, 'authentication-provider'],
      ]);
      expect(received.text).not.toContain(SECRET);
    }
  });

  it('is deleted, is a 404 afterwards, and can be replaced by another [T52]', async () => {
    const { authenticationProviders: providers } = tenant.api;
    const { id } = expectStatus(await providers.list(), 200).data[0]!;
    const answer = await providers.delete(id);
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect((await providers.delete(id)).status).toBe(404);
    expect((await providers.retrieve(id)).status).toBe(404);
    expect(expectStatus(await providers.list(), 200).data).toEqual([]);
    const again = expectStatus(await providers.create({ url: provider.issuer, clientId: 'again' }), 201);
    expect(again.id).not.toBe(id);
    expect(again).not.toHaveProperty('clientSecret');
  });
});

describe('a hostile discovery document', () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  /** A simulated provider, and the requests it received. */
  const hostile = async (answer: (response: ServerResponse, own: string) => void) => {
    const requests: string[] = [];
    let own = '';
    const server = createServer((request, response) => {
      requests.push(request.url!);
      answer(response, own);
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url: own, requests };
  };
  const json = (response: ServerResponse, body: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const genuine = (issuer: string) => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    scopes_supported: ['openid'],
  });
  /** Responses of creation and update; both change nothing. */
  const refused = async (url: string, msg: string) => {
    const { authenticationProviders: providers } = victim.api;
    const expected = {
      code: 'BadRequest',
      message: 'Validation Error',
      details: [{ value: url, msg, param: 'url', location: 'body' }],
    };
    const creation = await providers.create({ url, clientId: 'c' });
    expect([creation.status, creation.body]).toEqual([400, expected]);
    expect(expectStatus(await providers.list(), 200).data).toEqual([]);
    const kept = expectStatus(await providers.create({ url: provider.issuer, clientId: 'c' }), 201);
    const update = await providers.update(kept.id, { url, clientId: 'd' });
    expect([update.status, update.body]).toEqual([400, expected]);
    expect(expectStatus(await providers.retrieve(kept.id), 200)).toEqual(kept);
    expectStatus(await providers.delete(kept.id), 204);
  };

  it('is not fetched from another address: redirects are not followed', async () => {
    const inside = await hostile((response, own) => json(response, genuine(own)));
    for (const status of [302, 308]) {
      const { url } = await hostile((response) =>
        response.writeHead(status, { location: `${inside.url}/.well-known/openid-configuration` }).end(),
      );
      await refused(url, `the request for ${url}/.well-known/openid-configuration returned status ${status}`);
    }
    expect(inside.requests).toEqual([]);
  });

  it('is not read completely when it is too large', async () => {
    const piece = Buffer.alloc(64 * 1024, ' ');
    let most = 0;
    const { url } = await hostile((response) => {
      let sent = 0;
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = (): void => {
        while (sent < 10 * 1024 * 1024 && !response.destroyed) {
          sent += piece.length;
          most = Math.max(most, sent);
          if (!response.write(piece)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
    });
    await refused(url, 'the discovery document is too large');
    expect(most).toBeLessThan(10 * 1024 * 1024);
  });

  it('is abandoned after five seconds, also when it arrives slowly', async () => {
    const { url } = await hostile((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 200);
      response.once('close', () => clearInterval(drip));
    });
    const startedAt = performance.now();
    await refused(url, 'the discovery document could not be fetched');
    // Once on creation, once on update.
    expect(performance.now() - startedAt).toBeGreaterThan(2 * 4500);
    expect(performance.now() - startedAt).toBeLessThan(2 * 9000);
  }, 30_000);

  it('must name the configured issuer', async () => {
    const { url } = await hostile((response) => json(response, genuine('https://accounts.example')));
    await refused(
      url,
      `the issuer in the discovery document must be this URL, ${url}, and is https://accounts.example`,
    );
  });

  it.each(['authorization_endpoint', 'token_endpoint', 'scopes_supported'])(
    'is refused without %s [T47]',
    async (name) => {
      const { url, requests } = await hostile((response, own) =>
        json(response, { ...genuine(own), [name]: undefined }),
      );
      await refused(url, `the discovery document has no ${name}`);
      expect(new Set(requests)).toEqual(new Set(['/.well-known/openid-configuration']));
    },
  );
});
