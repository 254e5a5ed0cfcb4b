/** @engines embedded postgres */
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createAuthenticationProvider,
  deleteAuthenticationProvider,
  listAuthenticationProviders,
  retrieveAuthenticationProvider,
  updateAuthenticationProvider,
  type AuthenticationProvider,
  type AuthenticationProviderRequest,
  type PageOf,
} from '@attestry/contracts';
import { isErased } from '@attestry/keys';
import { OpenIdProvider, waitUntil } from '@attestry/testing';
import { ServiceUnderTest } from '@attestry/testing/services';
import {
  authenticationProvider,
  authenticationProviderStream,
} from './authentication-provider/authentication-provider.state.js';
import { tenantConfigService } from './index.js';

const service = new ServiceUnderTest(tenantConfigService, { baseOf: () => 'https://acme.localhost' });
const contextOf = service.asClient;

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const SECRET = 'the-secret-of-the-client-0815';
const MASKED = '**********-0815';

describe('authentication providers', () => {
  /** URL of a real OpenID provider. */
  let url: string;
  let identities: OpenIdProvider;
  const servers: Server[] = [];

  const start = (allowPrivate: boolean, settings: Record<string, string> = {}) =>
    service.open({ settings: { ...settings, ALLOW_PRIVATE_TARGETS: String(allowPrivate) } });
  const stop = () => service.close();
  const create = (
    tenantId: string,
    body: Partial<AuthenticationProviderRequest> = {},
  ): Promise<AuthenticationProvider> =>
    service.client.call(
      createAuthenticationProvider,
      { body: { url, clientId: 'attestry', clientSecret: SECRET, ...body } },
      contextOf(tenantId),
    );
  const retrieve = (tenantId: string, id: string): Promise<AuthenticationProvider> =>
    service.client.call(retrieveAuthenticationProvider, { params: { id } }, contextOf(tenantId));
  const list = async (tenantId: string, query = {}) =>
    (await service.client.call(
      listAuthenticationProviders,
      { query },
      contextOf(tenantId),
    )) as PageOf<AuthenticationProvider>;
  const update = (tenantId: string, id: string, body: AuthenticationProviderRequest): Promise<AuthenticationProvider> =>
    service.client.call(updateAuthenticationProvider, { params: { id }, body }, contextOf(tenantId));
  const remove = (tenantId: string, id: string) =>
    service.client.call(deleteAuthenticationProvider, { params: { id } }, contextOf(tenantId));
  const storedSecret = async (tenantId: string, id: string) => {
    const { state } = await service.engines.streams.load(
      authenticationProvider,
      authenticationProviderStream(tenantId, id),
    );
    if (state.status !== 'active') throw new Error(state.status);
    return service.engines.vault.sealing.openSealed(tenantId, 'tenant', state.sealedSecret!);
  };
  /** A simulated provider: `answer` sets its discovery document. */
  const hostile = async (answer: (response: ServerResponse, url: string) => void): Promise<string> => {
    let own = '';
    const server = createServer((_request, response) => answer(response, own));
    servers.push(server);
    own = `http://127.0.0.1:${await listen(server)}`;
    return own;
  };
  const document = (issuer: string) => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    scopes_supported: ['openid'],
    response_types_supported: ['code'],
  });
  const json = (response: ServerResponse, body: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const refusal = async (attempt: Promise<unknown>) => {
    const error = await attempt.then(
      () => undefined,
      (thrown: { kind: string; details: { msg: string; param: string }[] }) => thrown,
    );
    return [error?.kind, error?.details?.[0]?.param, error?.details?.[0]?.msg];
  };

  beforeAll(async () => {
    identities = await OpenIdProvider.start('https://management.example');
    url = identities.issuer;
    await start(true);
  }, 60_000);
  afterAll(async () => {
    await service.remove();
    await identities.stop();
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });

  it('is created with its defaults, its secret masked [T42, T43, T46, T48]', async () => {
    const made = await create('t1');
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      redirectUrl: 'https://acme.localhost/v1/oauth/authentication/callback',
      url,
      clientId: 'attestry',
      clientSecret: MASKED,
      scope: ['openid', 'profile', 'email'],
      tokenEndpointAuthMethod: 'client_secret_basic',
      staticRequestParameters: {},
      forwardedRequestParameters: [],
      claimsToPersist: [],
      requiredClaims: {},
    });
    expect(await retrieve('t1', made.id)).toEqual(made);
    expect(await list('t1')).toEqual({ data: [made] });
    expect(await list('t2')).toEqual({ data: [] });
    await expect(list('t1', { cursor: 'x' })).rejects.toMatchObject({ details: [{ param: 'cursor' }] });
    await expect(retrieve('t2', made.id)).rejects.toMatchObject({ kind: 'notFound' });
  });

  it('is the only one of its tenant: a second is a conflict', async () => {
    await expect(create('t1')).rejects.toMatchObject({ kind: 'conflict', code: 'Conflict' });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => create('race')));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await list('race')).data).toHaveLength(1);
  });

  it('keeps its secret when an update gives none or the masked one [T46, T51]', async () => {
    const made = await create('t3', { scope: ['openid', 'email'] });
    const { id } = made;
    const full = {
      url,
      clientId: 'other',
      scope: ['openid'],
      tokenEndpointAuthMethod: 'client_secret_post' as const,
      staticRequestParameters: { prompt: 'login', max_age: 5, claims: { userinfo: {} } },
      forwardedRequestParameters: ['login_hint'],
      claimsToPersist: ['email'],
    };
    expect(await update('t3', id, full)).toEqual({ ...made, ...full, clientSecret: MASKED });
    await update('t3', id, { ...full, clientSecret: MASKED });
    expect(await storedSecret('t3', id)).toBe(SECRET);
    expect(await refusal(update('t3', id, { ...full, clientSecret: '**********xxxxx' }))).toEqual([
      'invalid',
      'clientSecret',
      expect.stringMatching(/the masked form of the stored secret/),
    ]);
    expect((await update('t3', id, { ...full, clientSecret: 'a-completely-new-one' })).clientSecret).toBe(
      '**********w-one',
    );
    expect(await storedSecret('t3', id)).toBe('a-completely-new-one');
    // A full replacement: what is not named has its default again.
    expect(await update('t3', id, { url, clientId: 'other' })).toEqual({
      ...made,
      clientId: 'other',
      scope: ['openid', 'profile', 'email'],
      clientSecret: '**********w-one',
    });
  });

  it('may have no secret', async () => {
    const made = await create('t4', { clientSecret: undefined });
    expect(made).not.toHaveProperty('clientSecret');
    const changed = await update('t4', made.id, { url, clientId: 'x', clientSecret: SECRET });
    expect(changed.clientSecret).toBe(MASKED);
  });

  it('keeps the secret sealed, and destroys it with the provider', async () => {
    const { id } = await create('t5');
    const stream = authenticationProviderStream('t5', id);
    const events = await service.engines.events.readStream(stream, { from: 0, limit: 10 });
    expect(JSON.stringify(events)).not.toContain(SECRET);
    expect(JSON.stringify(events)).not.toContain('0815');
    const { sealedSecret } = events[0]!.data as { sealedSecret: string };
    await remove('t5', id);
    await expect(retrieve('t5', id)).rejects.toMatchObject({ kind: 'notFound' });
    await expect(remove('t5', id)).rejects.toMatchObject({ kind: 'notFound' });
    await expect(update('t5', id, { url, clientId: 'x' })).rejects.toMatchObject({ kind: 'notFound' });
    expect(await list('t5')).toEqual({ data: [] });
    const { vault } = service.engines;
    await waitUntil(async () => isErased(await vault.sealing.openSealed('t5', 'tenant', sealedSecret)), {
      what: 'the end of the key',
    });
    expect((await create('t5')).id).not.toBe(id);
  });

  it.each<[string, Partial<AuthenticationProviderRequest>, string]>([
    ['scopes without openid', { scope: ['email'] }, 'scope'],
    ['a scope with a space', { scope: ['openid', 'a b'] }, 'scope'],
    [
      'an unsupported client authentication method',
      { tokenEndpointAuthMethod: 'client_secret_jwt' as never },
      'tokenEndpointAuthMethod',
    ],
    ['static parameters that are an array', { staticRequestParameters: [] as never }, 'staticRequestParameters'],
    [
      'more than 1000 static parameters',
      { staticRequestParameters: Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`p${n}`, '1'])) },
      'staticRequestParameters',
    ],
    [
      'a static parameter of 1000 characters',
      { staticRequestParameters: { p: 'x'.repeat(1000) } },
      'staticRequestParameters',
    ],
    [
      'a static parameter of 1000 characters as JSON',
      { staticRequestParameters: { p: { q: 'x'.repeat(992) } } },
      'staticRequestParameters',
    ],
    [
      'a static parameter that the platform sets itself',
      { staticRequestParameters: { state: 'x' } },
      'staticRequestParameters',
    ],
    [
      'a forwarded parameter that the platform sets itself',
      { forwardedRequestParameters: ['redirect_uri'] },
      'forwardedRequestParameters',
    ],
    ['a repeated claim name', { claimsToPersist: ['a', 'a'] }, 'claimsToPersist'],
    ['an empty client id', { clientId: '' }, 'clientId'],
  ])('refuses %s', async (_what, body, param) => {
    expect((await refusal(create('t6', body))).slice(0, 2)).toEqual(['invalid', param]);
  });

  it('accepts values at their limits', async () => {
    const staticRequestParameters = {
      ...Object.fromEntries(Array.from({ length: 999 }, (_, n) => [`p${n}`, '1'])),
      long: 'x'.repeat(999),
    };
    expect((await create('t7', { staticRequestParameters })).staticRequestParameters).toEqual(staticRequestParameters);
  });

  it('refuses invalid addresses', async () => {
    for (const [text, msg] of [
      ['nonsense', 'must be a valid URL'],
      [`${url}?a=1`, 'must not have a query'],
      [`${url}?`, 'must not have a query'],
      ['http://u:word@127.0.0.1', 'must not contain credentials'],
      ['ftp://127.0.0.1', 'must use https'],
    ] as const)
      expect([text, ...(await refusal(create('t8', { url: text })))]).toEqual([text, 'invalid', 'url', msg]);
    // A fragment is dropped, and a slash at the end.
    expect((await create('t8', { url: `${url}/#top` })).url).toBe(url);
  });

  describe('a discovery document', () => {
    const fault = async (answer: (response: ServerResponse, url: string) => void) =>
      (await refusal(create('hostile', { url: await hostile(answer) }))).slice(0, 3);

    it('is not followed to another host, private or public', async () => {
      const requests: string[] = [];
      const inside = await hostile((response, own) => {
        requests.push(own);
        json(response, document(own));
      });
      for (const status of [301, 302, 307, 308])
        expect(
          await fault((response) =>
            response.writeHead(status, { location: `${inside}/.well-known/openid-configuration` }).end(),
          ),
        ).toEqual([
          'invalid',
          'url',
          expect.stringMatching(
            `^the request for http://127.0.0.1:\\d+/.well-known/openid-configuration returned status ${status}$`,
          ),
        ]);
      expect(requests).toEqual([]);
    });

    it('is not read when it is too large', async () => {
      const piece = Buffer.alloc(64 * 1024, ' ');
      let sent = 0;
      const received = await fault((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const write = () => {
          while (sent < 10 * 1024 * 1024 && !response.destroyed) {
            sent += piece.length;
            if (!response.write(piece)) return void response.once('drain', write);
          }
          response.end();
        };
        write();
      });
      expect(received).toEqual(['invalid', 'url', 'the discovery document is too large']);
      expect(sent).toBeLessThan(10 * 1024 * 1024);
    });

    it('is abandoned after five seconds, also when it arrives slowly', async () => {
      const startedAt = performance.now();
      const received = await fault((response) => {
        response.writeHead(200, { 'content-type': 'application/json' });
        const drip = setInterval(() => response.write(' '), 200);
        response.once('close', () => clearInterval(drip));
      });
      expect(received).toEqual(['invalid', 'url', 'the discovery document could not be fetched']);
      expect(performance.now() - startedAt).toBeLessThan(8000);
    }, 20_000);

    it('must name the configured issuer', async () => {
      expect(await fault((response) => json(response, document('https://accounts.example')))).toEqual([
        'invalid',
        'url',
        expect.stringMatching(
          /^the issuer in the discovery document must be this URL, http:\/\/127\.0\.0\.1:\d+, and is https:\/\/accounts\.example$/,
        ),
      ]);
      for (const [issuer, shown] of [
        [7, 'a value that is no string'],
        [`https://${'x'.repeat(300)}`, `https://${'x'.repeat(192)}...`],
        ['https://user:word@accounts.example', 'an address with a user name or password'],
        ['https://a.example/\u202e"\n', 'https://a.example/???'],
      ])
        expect((await fault((response, own) => json(response, { ...document(own), issuer })))[2]).toMatch(
          new RegExp(`and is ${(shown as string).replace(/[?.]/g, '\\$&')}$`),
        );
      const slash = await hostile((response, own) => json(response, { ...document(own), issuer: `${own}/` }));
      expect((await create('slash', { url: slash })).url).toBe(slash);
    });

    it.each(['authorization_endpoint', 'token_endpoint', 'scopes_supported', 'jwks_uri'])(
      'must have %s [T47, T761]',
      async (member) => {
        expect(await fault((response, own) => json(response, { ...document(own), [member]: undefined }))).toEqual([
          'invalid',
          'url',
          `the discovery document has no ${member}`,
        ]);
      },
    );

    it.each<[string, object, string]>([
      [
        'an endpoint that is not a URL',
        { token_endpoint: 'token' },
        'token_endpoint in the discovery document must be a public https URL',
      ],
      [
        'a javascript URL as an endpoint',
        { authorization_endpoint: 'javascript:alert(1)' },
        'authorization_endpoint in the discovery document must be a public https URL',
      ],
      ['scopes without openid', { scopes_supported: ['email'] }, 'the provider does not support the scope openid'],
      [
        'scopes that are not an array',
        { scopes_supported: 'openid' },
        'the provider does not support the scope openid',
      ],
      [
        'response types of the implicit flow only',
        { response_types_supported: ['id_token'] },
        'the provider does not support the authorization code flow',
      ],
      [
        'other grant types only',
        { grant_types_supported: ['implicit'] },
        'the provider does not support the authorization code flow',
      ],
      [
        'keys at an address that is none',
        { jwks_uri: 'keys' },
        'jwks_uri in the discovery document must be a public https URL',
      ],
      [
        'another client authentication [T761]',
        { token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'] },
        'token_endpoint_auth_methods_supported in the discovery document must contain client_secret_basic',
      ],
      [
        'PKCE without S256 [T761]',
        { code_challenge_methods_supported: ['plain'] },
        'code_challenge_methods_supported in the discovery document must contain S256',
      ],
    ])('is refused with %s', async (_what, members, msg) => {
      expect(await fault((response, own) => json(response, { ...document(own), ...members }))).toEqual([
        'invalid',
        'url',
        msg,
      ]);
    });

    it('must be a JSON object', async () => {
      for (const text of ['', '[]', 'null', '<html>', '{"issuer":'])
        expect(await fault((response) => response.writeHead(200).end(text))).toEqual([
          'invalid',
          'url',
          'the discovery document is not a JSON object',
        ]);
      expect(await fault((response) => response.writeHead(404).end())).toEqual([
        'invalid',
        'url',
        expect.stringMatching(/\/\.well-known\/openid-configuration returned status 404$/),
      ]);
      expect(await refusal(create('hostile', { url: 'http://127.0.0.1:1' }))).toEqual([
        'invalid',
        'url',
        'the discovery document could not be fetched',
      ]);
    });

    it('is also checked on update', async () => {
      const { id } = await create('t9');
      const bad = await hostile((response) => response.writeHead(500).end());
      expect((await refusal(update('t9', id, { url: bad, clientId: 'x', clientSecret: SECRET })))[1]).toBe('url');
      expect((await retrieve('t9', id)).url).toBe(url);
    });
  });

  it('may be given by the address of its discovery document [T771]', async () => {
    for (const [tenantId, suffix] of [
      ['pasted-1', ''],
      ['pasted-2', '/'],
    ] as const)
      expect((await create(tenantId, { url: `${url}/.well-known/openid-configuration${suffix}` })).url).toBe(url);
    const made = await create('pasted-3');
    const body = { url: `${url}/.well-known/openid-configuration`, clientId: 'attestry' };
    expect(await update('pasted-3', made.id, body)).toEqual(made);
    expect(await refusal(create('pasted-4', { url: `${url}/.well-known/openid-configuration?a=1` }))).toEqual([
      'invalid',
      'url',
      'must not have a query',
    ]);
  });

  it('must be public and on an allowed port unless private targets are allowed [T768]', async () => {
    await stop();
    await start(false, { OUTBOUND_PORTS: '8443' });
    const ports = 'must use one of the ports that the operator allows (OUTBOUND_PORTS): 443, 8443';
    for (const port of [1, 80, 444, 8444, 0, 65_535])
      expect(await refusal(create('t10', { url: `https://idp.example.com:${port}/realms/x` }))).toEqual([
        'invalid',
        'url',
        ports,
      ]);
    for (const [text, msg] of [
      [url, 'must use https'],
      ['https://127.0.0.1', 'must not be an IP address'],
      ['https://[::1]', 'must not be an IP address'],
      ['https://localhost', 'must have a public host name'],
      ['https://idp.internal', 'must have a public host name'],
      ['https://idp.no-such-tld', 'must have a public host name'],
    ] as const)
      expect([text, ...(await refusal(create('t10', { url: text })))]).toEqual([text, 'invalid', 'url', msg]);
  });
});
