import { createHash, randomBytes } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  TENANT_CLIENT,
  Wallet,
  type Answer,
  type PlatformAddresses,
  type ProviderAccount,
  type TenantUnderTest,
} from '@attestry/testing';

const CLIENT = 'pushing-wallet';
const BACK = 'https://pushing-wallet.example/back';
const ZOE: ProviderAccount = { sub: 'zoe', given_name: 'Zoë' };
const scope = 'jwt_vc_json:Pushed';
const verifier = randomBytes(32).toString('base64url');

let platform: PlatformAddresses;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let configuration: string;

const makeTenant = async (name: string) => {
  const made = await createTenantUnderTest(platform, await connectManagement(platform), name);
  await registerWallet(made.api, CLIENT, BACK);
  expectStatus(
    await made.api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  const { did } = expectStatus(await made.api.dids.create({ method: 'web', options: { url: made.host } }), 201);
  const request = {
    ...{ type: 'Pushed', name: 'Pushed', issuer: { name: 'Pushed' }, issuerDid: did },
    claimMappings: { given_name: { mapFrom: 'claims.given_name', required: true } },
  };
  const { id } = expectStatus(await made.api.jwtVc.create(request), 201);
  return { made, id };
};

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set(ZOE.sub, ZOE);
  platform = await sharedPlatform();
  ({ made: tenant, id: configuration } = await makeTenant('pushing'));
  ({ made: other } = await makeTenant('pushing-too'));
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const parametersOf = (more: Record<string, string | undefined> = {}) => {
  const all = {
    ...{ response_type: 'code', client_id: CLIENT, redirect_uri: BACK, scope, state: 'a state of the wallet' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: ZOE.sub },
    ...more,
  };
  return new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
};
type Pushed = { request_uri: string; expires_in: number; error: string; error_description: string };
const send = (body: URLSearchParams, at = tenant, query = ''): Promise<Answer<Pushed>> =>
  new ApiClient(at.url).request('POST', `/v1/oauth/par${query}`, { body });
const push = async (more: Record<string, string | undefined> = {}, at = tenant) =>
  expectStatus(await send(parametersOf(more), at), 201).request_uri;
const urlOf = (request_uri: string, more: Record<string, string> = {}, at = tenant) =>
  `${at.url}/v1/oauth/authorize?${new URLSearchParams({ client_id: CLIENT, request_uri, ...more })}`;
const refusalOf = async (url: string) => {
  const answer = await hostFetch(url, { redirect: 'manual' });
  const [, error] = /<dd>([a-z_]+)<\/dd>/.exec(await answer.text()) ?? [];
  return [answer.status, answer.headers.get('location'), error];
};
const isBack = (url: string) => url.startsWith(BACK);
const exchange = async (code: string | null) =>
  expectStatus(
    await new ApiClient(tenant.url).request<{ scope: string }>('POST', '/v1/oauth/token', {
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: CLIENT, redirect_uri: BACK, code_verifier: verifier },
        code: code!,
      }),
    }),
    200,
  );

describe('third-party clients', () => {
  it('push the request of an offer and collect the credential [T295]', async () => {
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [configuration] }), 200);
    const wallet = new Wallet(CLIENT);
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    const browser = new RedirectBrowser();
    const parameters = { login_hint: ZOE.sub };
    const { access_token } = await wallet.authorizedToken(offer, metadata, {
      ...{ browser, redirectUri: BACK, scope, parameters },
    });
    const opened = new URL(browser.visited[0]!);
    expect([opened.pathname, [...opened.searchParams.keys()].sort()]).toEqual([
      '/v1/oauth/authorize',
      ['client_id', 'request_uri'],
    ]);
    const [credential] = await wallet.credentials(metadata, access_token, configuration, [await makeHolderKey()]);
    expect(credential).toEqual(expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/));
  });
});

describe('the endpoint of pushed authorization requests', () => {
  it('returns a reference that differs each time [T290]', async () => {
    const answers = await Promise.all([1, 2].map(() => send(parametersOf())));
    for (const { status, headers, body } of answers)
      expect([status, headers.get('cache-control'), body]).toEqual([
        201,
        'no-store',
        { request_uri: expect.stringMatching(/^urn:ietf:params:oauth:request_uri:[\w-]{43}$/), expires_in: 60 },
      ]);
    expect(answers[0]!.body.request_uri).not.toBe(answers[1]!.body.request_uri);
  });

  it.each<[string, Record<string, string | undefined>, string, RegExp]>([
    ['no client', { client_id: undefined }, 'invalid_request', /client_id must be sent once/],
    ['no redirect URI', { redirect_uri: undefined }, 'invalid_request', /redirect_uri must be sent once/],
    ['an unusable redirect URI', { redirect_uri: 'javascript:alert(1)' }, 'invalid_request', /redirect_uri must be/],
    ['a request_uri', { request_uri: 'urn:x' }, 'invalid_request', /request_uri must not be pushed/],
    ['a request object', { request: 'a.b.c' }, 'request_not_supported', /not supported/],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type', /must be code/],
    ['no PKCE', { code_challenge: undefined }, 'invalid_request', /code_challenge is missing/],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request', /must be S256/],
    ['an unknown scope', { scope: 'other' }, 'invalid_scope', /scope must name/],
    ['invalid details', { authorization_details: '[]' }, 'invalid_authorization_details', /array of 1 to 20/],
    ['another resource', { resource: 'https://x.example' }, 'invalid_target', /resource must be/],
    ['a long state', { state: 'x'.repeat(4097) }, 'invalid_request', /state must have at most 4096/],
  ])('refuses %s, as JSON [T290]', async (_what, more, error, description) => {
    const { status, headers, body } = await send(parametersOf(more));
    expect([status, headers.get('content-type')?.split(';')[0], headers.get('location')]).toEqual([
      400,
      'application/json',
      null,
    ]);
    expect([headers.get('cache-control'), body]).toEqual([
      'no-store',
      { error, error_description: expect.stringMatching(description) },
    ]);
  });

  it('takes several authorization_details, and the issuer as resource [T290]', async () => {
    const details = ['a', 'b'].map(() => ({
      type: 'openid_credential',
      credential_configuration_id: configuration,
    }));
    await push({ scope: undefined, authorization_details: JSON.stringify(details), resource: tenant.url });
  });

  it('refuses other methods, media types, repeated parameters and parameters in the query [T296]', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await hostFetch(`${tenant.url}/v1/oauth/par`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    const json = await new ApiClient(tenant.url).request<Pushed>('POST', '/v1/oauth/par', {
      body: Object.fromEntries(parametersOf()),
    });
    expect([json.status, json.body.error]).toEqual([400, 'invalid_request']);
    for (const name of ['client_id', 'scope', 'state', 'code_challenge', 'unknown']) {
      const twice = parametersOf({ unknown: 'x' });
      twice.append(name, twice.get(name)!);
      const { status, body } = await send(twice);
      expect([name, status, body.error]).toEqual([name, 400, 'invalid_request']);
    }
    const { status, body } = await send(parametersOf(), tenant, '?client_id=x');
    expect([status, body.error_description]).toEqual([400, 'parameters must be in the body, not in the query string']);
  });

  it('refuses large bodies, and repeats nothing of them [T296]', async () => {
    const marker = 'echo-of-the-wallet';
    const sizes: [number, number][] = [
      [65_000, 400],
      [16_385, 400],
      [66_000, 413],
    ];
    for (const [length, expected] of sizes) {
      const { status, text } = await send(parametersOf({ state: marker, login_hint: 'x'.repeat(length) }));
      expect([length, status, text.includes(marker)]).toEqual([length, expected, false]);
    }
    const { text } = await send(parametersOf({ state: `${marker}<script>`, scope: `${marker}-scope` }));
    expect(text).not.toContain(marker);
  });
});

describe('a pushed authorization request', () => {
  it('can be reloaded until its sign-in has finished, and gives one code [T292]', async () => {
    const url = urlOf(await push());
    const [browser, concurrent] = [new RedirectBrowser(), new RedirectBrowser()];
    expect((await browser.openUrl(url)).status).toBe(302);
    const callback = (one: RedirectBrowser) => one.follow(url, (at) => at.includes('/authentication/callback?'));
    const callbacks = [
      [browser, await callback(browser)],
      [concurrent, await callback(concurrent)],
    ] as const;
    const answers = await Promise.all(callbacks.map(([one, at]) => one.follow(at.href, isBack)));
    const [code, ...others] = answers.flatMap(({ searchParams }) => searchParams.get('code') ?? []);
    expect([others, answers.map(({ searchParams }) => searchParams.get('error')).filter(Boolean)]).toEqual([
      [],
      ['invalid_request'],
    ]);
    expect((await exchange(code!)).scope).toBe(scope);
    expect(await refusalOf(url)).toEqual([400, null, 'invalid_request_uri']);
  });

  it('is the request: parameters beside its reference change nothing [T293]', async () => {
    const url = urlOf(await push(), { redirect_uri: 'https://evil.example/', state: 'x', scope: 'y', request: 'z' });
    const back = await new RedirectBrowser().follow(url, (at) => isBack(at) || at.startsWith('https://evil'));
    expect([back.origin, back.searchParams.get('state'), back.searchParams.get('iss')]).toEqual([
      new URL(BACK).origin,
      'a state of the wallet',
      tenant.url,
    ]);
  });

  it('is refused without redirection for another client, at another tenant, and when it is unknown [T293]', async () => {
    const requestUri = await push();
    const unknown = `${requestUri.slice(0, -43)}${randomBytes(32).toString('base64url')}`;
    const more = Object.fromEntries(parametersOf());
    for (const [url, error] of [
      [urlOf(requestUri, { client_id: 'another' }), 'invalid_request'],
      [urlOf(requestUri, { ...more, client_id: '' }), 'invalid_request'],
      [`${urlOf(requestUri, more)}&request_uri=x`, 'invalid_request'],
      [urlOf(requestUri, more, other), 'invalid_request_uri'],
      [urlOf(unknown, more), 'invalid_request_uri'],
      [urlOf(requestUri.slice(0, -1), more), 'invalid_request_uri'],
      [urlOf('https://wallet.example/request.jwt', more), 'invalid_request_uri'],
      [urlOf('urn:ietf:params:oauth:request_uri:', more), 'invalid_request_uri'],
    ] as const)
      expect([url, await refusalOf(url)]).toEqual([url, [400, null, error]]);
    expect((await new RedirectBrowser().follow(urlOf(requestUri), isBack)).searchParams.get('code')).not.toBeNull();
  });
});
