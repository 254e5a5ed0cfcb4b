import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  platformMode,
  sharedPlatform,
  TENANT_CLIENT,
  verifyLdpVc,
  waitUntil,
  Wallet,
  type Answer,
  type ManagementApi,
  type ProviderAccount,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

const WALLET = 'wallet.example';
/** Redirect URI of a wallet that the issuer does not know: the browser approves the consent page. */
const BACK = 'https://wallet.example/back';
/** Registered too. */
const OWN_SCHEME = 'example-wallet://back?kept=1';

let platform: PlatformAddresses;
let management: ManagementApi;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
/** Configurations of the tenant: web-semantic, and a jwt-vc one. */
let course: string;
let pass: string;
let scope: string;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'academy');
  await registerWallet(tenant.api, WALLET, BACK, OWN_SCHEME);
  expectStatus(
    await tenant.api.authenticationProviders.create({
      url: provider.issuer,
      ...TENANT_CLIENT,
      staticRequestParameters: { ui_locales: 'fr', audience_hint: { of: ['college'] } },
      forwardedRequestParameters: ['login_hint', 'acr_values'],
      claimsToPersist: ['email'],
    }),
    201,
  );
  const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const request = (type: string) => ({
    type,
    name: type,
    issuer: { name: 'College' },
    issuerDid: did,
    claimMappings: {
      given_name: { mapFrom: 'claims.given_name', required: true },
      email: { mapFrom: 'claims.email' },
      subject: { mapFrom: 'authenticationProvider.subjectId' },
      source: { mapFrom: 'authenticationProvider.url' },
    },
  });
  course = expectStatus(await tenant.api.webSemantic.create(request('Course')), 201).id;
  pass = expectStatus(await tenant.api.jwtVc.create(request('Pass')), 201).id;
  scope = 'ldp_vc:Course';
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const ZOE: ProviderAccount = { sub: 'zoe', given_name: 'Zoë', email: 'zoe@people.example', email_verified: true };
const MAX: ProviderAccount = { sub: 'max', given_name: 'Max' };

const offerOf = async (credentials: string[], more: { request_parameters?: Record<string, string> } = {}) =>
  expectStatus(await tenant.api.offers.createOpen({ credentials, ...more }), 200).uri;
const documentOf = (uri: string) =>
  JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as Record<string, unknown>;

/** Signs a person in with a third-party wallet, and requests the credential. */
const collect = async (uri: string, account: ProviderAccount, parameters: Record<string, string> = {}) => {
  provider.accounts.set(account.sub, account);
  const wallet = new Wallet(WALLET);
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const browser = new RedirectBrowser();
  const token = await wallet.authorizedToken(offer, metadata, {
    browser,
    redirectUri: BACK,
    scope,
    parameters: { login_hint: account.sub, ...parameters },
  });
  const key = await makeHolderKey('EdDSA', 'did:key');
  const [credential] = await wallet.credentials(metadata, token.access_token, course, [key]);
  return { wallet, offer, metadata, browser, token, key, credential: credential as Record<string, unknown> };
};

/** An authorization request by hand: what the wallet's library would not send. */
const verifier = randomBytes(32).toString('base64url');
const authorizationQuery = (more: Record<string, string | undefined> = {}) => {
  const all = {
    response_type: 'code',
    client_id: WALLET,
    redirect_uri: BACK,
    scope,
    state: 'a state of the wallet',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: ZOE.sub,
    ...more,
  };
  return new URLSearchParams(Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined));
};
const authorizeUrl = (query: URLSearchParams, at = tenant) => `${at.url}/v1/oauth/authorize?${query}`;
const requestAuthorization = async (query: URLSearchParams, at = tenant) => {
  const answer = await hostFetch(authorizeUrl(query, at), { redirect: 'manual' });
  const location = answer.headers.get('location');
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    location: location === null ? undefined : new URL(location),
    /** Error of a refusal that is shown on a page. */
    error: errorOnPage(text),
  };
};
/** Pushes the same request. */
const push = (more: Record<string, string | undefined> = {}): Promise<Answer<Record<string, string>>> =>
  new ApiClient(tenant.url).request('POST', '/v1/oauth/par', { body: authorizationQuery(more) });
const errorOnPage = (page: string): string | undefined => /<dd>([a-z_]+)<\/dd>/.exec(page)?.[1];
const codeOf = async (more: Record<string, string> = {}, browser = new RedirectBrowser()): Promise<string> => {
  provider.accounts.set(ZOE.sub, ZOE);
  const back = await browser.follow(authorizeUrl(authorizationQuery(more)), (url) => url.startsWith(BACK));
  return back.searchParams.get('code')!;
};
const exchange = (form: Record<string, string>): Promise<Answer<Record<string, unknown>>> =>
  new ApiClient(tenant.url).request('POST', '/v1/oauth/token', {
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: WALLET,
      redirect_uri: BACK,
      code_verifier: verifier,
      ...form,
    }),
  });
const errorOf = ({ status, body }: Answer<Record<string, unknown>>) => [status, body['error']];

describe('an offer of the authorization code flow', () => {
  it('is a URI with issuer, configurations and optional parameters, and is not stored [T72, T73]', async () => {
    const uri = await offerOf([course, pass], { request_parameters: { login_hint: 'zoe', prompt: 'login' } });
    expect(uri).toMatch(/^openid-credential-offer:\/\/\?credential_offer=/);
    expect(documentOf(uri)).toEqual({
      credential_issuer: tenant.url,
      credential_configuration_ids: [course, pass],
      credentials: [course, pass],
      request_parameters: { login_hint: 'zoe', prompt: 'login' },
      grants: { authorization_code: {} },
    });
    expect(documentOf(await offerOf([pass]))).not.toHaveProperty('request_parameters');
  });

  it.each([
    [{ credentials: [] }, 'credentials'],
    [{ credentials: ['x'] }, 'credentials'],
    [{ credentials: ['3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11'] }, 'credentials'],
    [{}, 'credentials'],
    [{ request_parameters: { login_hint: 1 } }, 'request_parameters'],
    [{ request_parameters: { state: 'x' } }, 'request_parameters'],
    [{ request_parameters: 'x' }, 'request_parameters'],
  ])('is refused for %j', async (body, param) => {
    const request = 'request_parameters' in body ? { credentials: [course], ...body } : body;
    const answer = await tenant.api.offers.createOpen(request as never);
    expect([answer.status, (answer.body as unknown as { details: { param: string }[] }).details[0]?.param]).toEqual([
      400,
      param,
    ]);
  });

  it('can be used by several users, each of whom signs in and gets a separate credential [T74, T75, T78]', async () => {
    const uri = await offerOf([course]);
    for (const account of [ZOE, MAX, ZOE]) {
      const { credential, key } = await collect(uri, account);
      await verifyLdpVc(credential);
      expect(credential['credentialSubject']).toEqual({
        id: key.did,
        given_name: account.given_name,
        subject: account.sub,
        source: provider.issuer,
        ...(account.email && { email: account.email }),
      });
    }
    // One user for each person, with what is to be kept of them. A sign-in does not wait for the list of users (ADR 0057).
    const linked = async () =>
      expectStatus(await tenant.api.users.list(), 200).data.filter(
        ({ authenticationProvider }) => authenticationProvider?.url === provider.issuer,
      );
    await waitUntil(async () => (await linked()).length >= 2, { what: 'both users in the list' });
    expect(
      (await linked()).map(({ claims, authenticationProvider }) => [authenticationProvider!.subjectId, claims]).sort(),
    ).toEqual([
      ['max', {}],
      ['zoe', { email: 'zoe@people.example' }],
    ]);
  });
});

describe('the authorization endpoint', () => {
  it('sends the static parameters and the forwarded ones to the provider, and nothing else [T44]', async () => {
    const before = provider.requests.length;
    await collect(await offerOf([course]), ZOE, {
      acr_values: 'gold',
      prompt: 'none',
      ui_locales: 'de',
      audience: 'x',
      ...{ constructor: 'x', hasOwnProperty: 'x' },
    });
    const sent = Object.fromEntries(provider.requests[before]!);
    expect(sent).toEqual({
      client_id: 'attestry',
      response_type: 'code',
      redirect_uri: `${tenant.url}/v1/oauth/authentication/callback`,
      scope: 'openid profile email',
      state: expect.any(String),
      nonce: expect.any(String),
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
      ui_locales: 'fr',
      audience_hint: '{"of":["college"]}',
      login_hint: 'zoe',
      acr_values: 'gold',
    });
  });

  it('returns a code and the state to the redirect URI after the sign-in [T75]', async () => {
    provider.accounts.set(ZOE.sub, ZOE);
    const browser = new RedirectBrowser();
    const back = await browser.follow(authorizeUrl(authorizationQuery({ redirect_uri: OWN_SCHEME })), (url) =>
      url.startsWith('example-'),
    );
    expect(Object.fromEntries(back.searchParams)).toEqual({
      kept: '1',
      code: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
      state: 'a state of the wallet',
      iss: tenant.url,
    });
    const { status, body } = await exchange({ code: back.searchParams.get('code')!, redirect_uri: OWN_SCHEME });
    expect([status, body]).toEqual([
      200,
      { access_token: expect.any(String), token_type: 'Bearer', expires_in: 300, scope },
    ]);
  });

  it('does not redirect for an invalid client_id or redirect_uri [T75]', async () => {
    const twice = authorizationQuery();
    twice.append('redirect_uri', 'https://other.example/');
    for (const query of [
      authorizationQuery({ client_id: undefined }),
      authorizationQuery({ client_id: '' }),
      authorizationQuery({ redirect_uri: undefined }),
      authorizationQuery({ redirect_uri: '/back' }),
      authorizationQuery({ redirect_uri: 'http://wallet.example/back' }),
      authorizationQuery({ redirect_uri: `${BACK}#part` }),
      authorizationQuery({ redirect_uri: 'javascript:alert(1)' }),
      authorizationQuery({ redirect_uri: 'data:text/html,x' }),
      twice,
    ]) {
      const { status, location, error } = await requestAuthorization(query);
      expect([query.get('redirect_uri'), status, location, error]).toEqual([
        query.get('redirect_uri'),
        400,
        undefined,
        'invalid_request',
      ]);
    }
  });

  it.each([
    ['response_type', 'token', 'unsupported_response_type'],
    ['response_type', undefined, 'invalid_request'],
    ['code_challenge', undefined, 'invalid_request'],
    ['code_challenge', 'short', 'invalid_request'],
    ['code_challenge_method', 'plain', 'invalid_request'],
    ['code_challenge_method', undefined, 'invalid_request'],
    ['scope', undefined, 'invalid_scope'],
    ['scope', 'openid ldp_vc:Other', 'invalid_scope'],
    ['authorization_details', '{', 'invalid_authorization_details'],
    [
      'authorization_details',
      '[{"type":"openid_credential","credential_configuration_id":"x"}]',
      'invalid_authorization_details',
    ],
    ['authorization_details', '[{"type":"other","credential_configuration_id":"x"}]', 'invalid_authorization_details'],
    [
      'authorization_details',
      JSON.stringify(
        Array.from({ length: 21 }, () => ({ type: 'openid_credential', credential_configuration_id: 'x' })),
      ),
      'invalid_authorization_details',
    ],
    ['resource', 'https://other.example', 'invalid_target'],
    ['request', 'x.y.z', 'request_not_supported'],
    ['response_mode', 'fragment', 'invalid_request'],
    ['dpop_jkt', 'x', 'invalid_request'],
  ])('returns the error to the wallet for %s %s [T75]', async (name, value, error) => {
    const { status, location, headers } = await requestAuthorization(
      authorizationQuery({ redirect_uri: OWN_SCHEME, [name]: value }),
    );
    expect([status, location!.href.split('?', 1)[0]]).toEqual([302, OWN_SCHEME.split('?', 1)[0]]);
    expect(Object.fromEntries(location!.searchParams)).toEqual({
      kept: '1',
      error,
      error_description: expect.any(String),
      state: 'a state of the wallet',
      iss: tenant.url,
    });
    expect(headers.get('set-cookie')).toBeNull();
  });

  it('returns the error to the wallet for a repeated parameter, without the state when that is repeated [T75]', async () => {
    for (const name of ['scope', 'state', 'code_challenge']) {
      const twice = authorizationQuery();
      twice.append(name, twice.get(name)!);
      const { status, location } = await requestAuthorization(twice);
      expect([status, Object.fromEntries(location!.searchParams)]).toEqual([
        302,
        {
          error: 'invalid_request',
          error_description: 'a parameter must not be sent more than once',
          ...(name !== 'state' && { state: 'a state of the wallet' }),
          iss: tenant.url,
        },
      ]);
    }
  });

  it('returns an error to the wallet when the sign-in fails [T75]', async () => {
    const browser = new RedirectBrowser();
    const back = await browser.follow(authorizeUrl(authorizationQuery({ login_hint: undefined })), (url) =>
      url.startsWith(BACK),
    );
    expect(back.searchParams.get('error')).toBe('access_denied');
    expect(back.searchParams.get('state')).toBe('a state of the wallet');
  });

  it('records users who return from the provider, and no request of an unregistered wallet before [T299]', async () => {
    // Events of the tests before may be listed later.
    const began = new Date().toISOString();
    const typesOf = async () =>
      expectStatus(await tenant.api.analytics.list({ categories: ['openid'], limit: 1000 }), 200)
        .data.filter(({ type, timestamp }) => /^OPENID_(AUTH|PAR)/.test(type) && timestamp >= began)
        .map(({ type }) => type);
    const unregistered = { client_id: 'unregistered' };
    await requestAuthorization(authorizationQuery({ ...unregistered, scope: 'none' }));
    await requestAuthorization(authorizationQuery(unregistered));
    await push(unregistered);
    await push({ ...unregistered, scope: 'none' });
    await codeOf(unregistered);
    const browser = new RedirectBrowser();
    await browser.follow(authorizeUrl(authorizationQuery({ ...unregistered, login_hint: undefined })), (url) =>
      url.startsWith(BACK),
    );
    await waitUntil(async () => (await typesOf()).length >= 4, { what: 'four events' });
    expect(await typesOf()).toEqual([
      'OPENID_AUTHENTICATION_CALLBACK_FAIL',
      'OPENID_AUTHENTICATION_CALLBACK_START',
      'OPENID_AUTHENTICATION_CALLBACK_SUCCESS',
      'OPENID_AUTHENTICATION_CALLBACK_START',
    ]);
  });
});

describe('the callback', () => {
  const atCallback = (url: string) => url.startsWith(`${tenant.url}/v1/oauth/authentication/callback`);

  it('is accepted once, from the browser that started the sign-in', async () => {
    provider.accounts.set(ZOE.sub, ZOE);
    const browser = new RedirectBrowser();
    const callback = (await browser.follow(authorizeUrl(authorizationQuery()), atCallback)).href;
    const elsewhere = await hostFetch(callback, { redirect: 'manual' });
    expect([elsewhere.status, errorOnPage(await elsewhere.text())]).toEqual([400, 'invalid_request']);
    const answer = await browser.openUrl(callback);
    expect(answer.status).toBe(302);
    expect(new URL(answer.headers.get('location')!).searchParams.get('code')).toMatch(/^[A-Za-z0-9_-]{86}$/);
    expect(answer.headers.get('set-cookie')).toMatch(
      /^attestry-sign-in-[0-9a-f-]{36}=; .*Max-Age=0; HttpOnly; SameSite=Lax$/,
    );
    expect((await browser.openUrl(callback)).status).toBe(400);
  });

  it("issues nothing for a provider's code of another sign-in", async () => {
    provider.accounts.set(ZOE.sub, ZOE);
    const browser = new RedirectBrowser();
    const callback = await browser.follow(authorizeUrl(authorizationQuery()), atCallback);
    callback.searchParams.set('code', 'of-somebody-else');
    const location = (await browser.openUrl(callback.href)).headers.get('location')!;
    expect(new URL(location).searchParams.get('error')).toBe('server_error');
  });

  it.each(['', '?state=x', '?state=3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11&code=y'])('refuses %s', async (query) => {
    const answer = await hostFetch(`${tenant.url}/v1/oauth/authentication/callback${query}`, { redirect: 'manual' });
    expect([answer.status, errorOnPage(await answer.text())]).toEqual([400, 'invalid_request']);
  });
});

describe('the authorization code', () => {
  it('is exchanged for a token that covers the requested credentials [T76, T77, T78]', async () => {
    const details = JSON.stringify([{ type: 'openid_credential', credential_configuration_id: pass }]);
    const { status, body } = await exchange({ code: await codeOf({ scope: '', authorization_details: details }) });
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 300,
        scope: 'jwt_vc_json:Pass',
        authorization_details: [
          {
            type: 'openid_credential',
            credential_configuration_id: pass,
            credential_identifiers: [expect.any(String)],
          },
        ],
      },
    ]);
  });

  it.each([
    ['another client', { client_id: 'other' }, 'invalid_grant'],
    ['another address', { redirect_uri: 'https://wallet.example/other' }, 'invalid_grant'],
    ['another verifier', { code_verifier: 'a'.repeat(43) }, 'invalid_grant'],
    ['no verifier', { code_verifier: '' }, 'invalid_grant'],
    ['no client', { client_id: '' }, 'invalid_request'],
    ['no address', { redirect_uri: '' }, 'invalid_request'],
    ['another grant', { grant_type: 'password' }, 'unsupported_grant_type'],
  ])('is refused with %s, and remains valid afterwards [T78]', async (_what, form, error) => {
    const code = await codeOf();
    expect(errorOf(await exchange({ code, ...form }))).toEqual([400, error]);
    expect((await exchange({ code })).status).toBe(200);
  });

  it('is spent at its first use, and a second use revokes its token [T78]', async () => {
    const code = await codeOf();
    const token = (await exchange({ code })).body['access_token'] as string;
    const api = new ApiClient(tenant.url);
    const request = () =>
      api.request<Record<string, unknown>>('POST', '/v1/openid/credential', {
        headers: { authorization: `Bearer ${token}` },
        body: { credential_configuration_id: course },
      });
    expect(errorOf(await request())).toEqual([400, 'invalid_proof']);
    expect(errorOf(await exchange({ code }))).toEqual([400, 'invalid_grant']);
    // At every process of the service, also at one that has the earlier state of the session cached.
    for (let n = 0; n < 16; n++) expect(errorOf(await request())).toEqual([401, 'invalid_token']);
    expect(errorOf(await exchange({ code }))).toEqual([400, 'invalid_grant']);
  });

  it('is refused at another tenant', async () => {
    const other = await createTenantUnderTest(platform, management, 'other-academy');
    const code = await codeOf();
    const { status, body } = await new ApiClient(other.url).request<Record<string, unknown>>(
      'POST',
      '/v1/oauth/token',
      {
        body: new URLSearchParams({
          ...{ grant_type: 'authorization_code', client_id: WALLET, redirect_uri: BACK },
          ...{ code_verifier: verifier, code },
        }),
      },
    );
    expect([status, body['error']]).toEqual([400, 'invalid_grant']);
    // The tenant has no provider, and the error names that.
    const did = expectStatus(await other.api.dids.create({ method: 'web', options: { url: other.host } }), 201).did;
    const configuration = { type: 'Course', name: 'x', issuer: { name: 'x' }, issuerDid: did, claimMappings: {} };
    expectStatus(await other.api.webSemantic.create(configuration), 201);
    await registerWallet(other.api, WALLET, BACK);
    expect((await requestAuthorization(authorizationQuery(), other)).location!.searchParams.get('error')).toBe(
      'server_error',
    );
  });
});

describe('metadata', () => {
  it('name the authorization endpoint and its capabilities [T93]', async () => {
    const api = new ApiClient(tenant.url);
    const shared = {
      issuer: tenant.url,
      authorization_endpoint: `${tenant.url}/v1/oauth/authorize`,
      pushed_authorization_request_endpoint: `${tenant.url}/v1/oauth/par`,
      token_endpoint: `${tenant.url}/v1/oauth/token`,
      jwks_uri: `${tenant.url}/v1/oauth/jwks`,
      scopes_supported: expect.arrayContaining(['ldp_vc:Course', 'jwt_vc_json:Pass']),
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: [
        'authorization_code',
        'urn:ietf:params:oauth:grant-type:pre-authorized_code',
        'refresh_token',
      ],
      code_challenge_methods_supported: ['S256'],
    };
    for (const name of ['openid-credential-issuer', 'oauth-authorization-server'])
      expect((await api.request('GET', `/.well-known/${name}`)).body).toEqual(expect.objectContaining(shared));
  });
});

describe('a provider whose address changes', () => {
  let moved: TenantUnderTest;
  let managed: TenantUnderTest['api'];
  let elsewhere: OpenIdProvider;
  let id: string;
  const settingsAt = ({ issuer }: OpenIdProvider, more: { clientSecret?: string; scope?: string[] } = {}) => ({
    ...{ url: issuer, clientId: TENANT_CLIENT.clientId },
    ...{ forwardedRequestParameters: ['login_hint'], claimsToPersist: ['email'] },
    ...more,
  });
  const signIn = async (browser = new RedirectBrowser(), more: Record<string, string> = {}) =>
    (await browser.follow(authorizeUrl(authorizationQuery(more), moved), (url) => url.startsWith(BACK))).searchParams;
  /** Users whom a provider signed in, oldest first. */
  const people = async (count: number) => {
    const found = async () =>
      expectStatus(await moved.api.users.list(), 200)
        .data.filter(({ authenticationProvider }) => authenticationProvider)
        .map(({ id: userId, claims, authenticationProvider }) => ({ userId, claims, ...authenticationProvider! }));
    await waitUntil(async () => (await found()).length >= count, { what: `${count} users` });
    return found();
  };
  const faultOf = ({ status, body }: Answer) => [status, (body as { details?: { param: string }[] }).details];
  const SECRET_NEEDED = [
    400,
    [{ param: 'clientSecret', location: 'body', msg: expect.stringMatching(/^must be the secret itself, neither/) }],
  ];

  beforeAll(async () => {
    elsewhere = await OpenIdProvider.start('https://management.example');
    moved = await createTenantUnderTest(platform, management, 'moved-academy');
    managed = await connectWithRoles(platform, management, moved, ['managed-issuer']);
    await registerWallet(moved.api, WALLET, BACK);
    const created = await moved.api.authenticationProviders.create({ ...settingsAt(provider), ...TENANT_CLIENT });
    ({ id } = expectStatus(created, 201));
    const { did } = expectStatus(await moved.api.dids.create({ method: 'web', options: { url: moved.host } }), 201);
    const configuration = { type: 'Course', name: 'x', issuer: { name: 'x' }, issuerDid: did, claimMappings: {} };
    expectStatus(await moved.api.webSemantic.create(configuration), 201);
    provider.accounts.set('zoe', ZOE);
    elsewhere.accounts.set('zoe', { sub: 'zoe', email: 'thief@evil.example' });
    expect((await signIn()).get('code')).toEqual(expect.any(String));
  });
  afterAll(() => elsewhere.stop());

  it('does not send its secret to another origin', async () => {
    const { clientSecret: masked } = expectStatus(await managed.authenticationProviders.retrieve(id), 200);
    for (const more of [{}, { clientSecret: masked! }])
      expect(faultOf(await managed.authenticationProviders.update(id, settingsAt(elsewhere, more)))).toEqual(
        SECRET_NEEDED,
      );
    expect(expectStatus(await managed.authenticationProviders.retrieve(id), 200).url).toBe(provider.issuer);
    expect((await signIn()).get('code')).toEqual(expect.any(String));
    expect(await people(1)).toHaveLength(1);
  });

  it('does not find users of the former address by subject, also after a change back', async () => {
    const [before] = await people(1);
    const { clientSecret } = TENANT_CLIENT;
    expectStatus(await managed.authenticationProviders.update(id, settingsAt(elsewhere, { clientSecret })), 200);
    for (let times = 0; times < 2; times++) expect((await signIn()).get('code')).toEqual(expect.any(String));
    const after = await people(2);
    expect(after).toEqual([
      before,
      {
        userId: expect.not.stringMatching(before!.userId),
        claims: { email: 'thief@evil.example' },
        ...{ providerId: id, url: elsewhere.issuer, subjectId: 'zoe' },
      },
    ]);
    expectStatus(await managed.authenticationProviders.update(id, settingsAt(provider, { clientSecret })), 200);
    await signIn();
    expect((await people(3)).slice(0, 2)).toEqual(after);
    expect(await people(3)).toHaveLength(3);
  });

  it('ends sign-ins that were started at the former address', async () => {
    const browser = new RedirectBrowser();
    const callback = await browser.follow(
      authorizeUrl(authorizationQuery(), moved),
      (url) => url.startsWith(moved.url) && url.includes('code='),
    );
    const { clientSecret } = TENANT_CLIENT;
    expectStatus(await managed.authenticationProviders.update(id, settingsAt(elsewhere, { clientSecret })), 200);
    const location = (await browser.openUrl(callback.href)).headers.get('location')!;
    expect(new URL(location).searchParams.get('error')).toBe('server_error');
  });

  it('refuses sign-ins when its token endpoint has another origin, and records the refusal', async () => {
    const scope = ['openid', 'email'];
    expectStatus(await managed.authenticationProviders.update(id, settingsAt(elsewhere, { scope })), 200);
    const asStolen: string[] = [];
    const thief = createServer((request, response) => {
      asStolen.push(request.url!);
      response.writeHead(400).end();
    });
    await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
    elsewhere.announced = { token_endpoint: `http://127.0.0.1:${(thief.address() as AddressInfo).port}/token` };
    // Each request of a registered wallet is recorded.
    const signInUnregistered = () => signIn(new RedirectBrowser(), { client_id: 'unregistered' });
    try {
      const back = await signInUnregistered();
      expect([back.get('error'), back.get('error_description')]).toEqual([
        'server_error',
        expect.stringMatching(/^the token endpoint of the authentication provider has another origin/),
      ]);
      const failures = async () =>
        expectStatus(await moved.api.analytics.list({ types: ['OPENID_AUTHORIZE_FAIL'] }), 200).data.filter(
          ({ metadata }) => JSON.stringify(metadata).includes('has another origin'),
        );
      await waitUntil(async () => (await failures()).length > 0, { what: 'the refusal in the trail' });
      // Sign-ins begin without authentication: each process of issuance records it once a minute.
      for (let n = 0; n < 4; n++) await signInUnregistered();
      const processes = platformMode() === 'cluster' ? 2 : 1;
      expect((await failures()).length).toBeLessThanOrEqual(processes);
      // Saving it again does not take the secret there either.
      expect(faultOf(await managed.authenticationProviders.update(id, settingsAt(elsewhere)))).toEqual(SECRET_NEEDED);
      expect(asStolen).toEqual([]);
    } finally {
      elsewhere.announced = {};
      thief.close();
    }
    expect((await signIn()).get('code')).toEqual(expect.any(String));
  });
});

describe('a provider that is deleted during a sign-in', () => {
  it('ends the sign-in with access_denied, and later ones with server_error', async () => {
    provider.accounts.set(ZOE.sub, ZOE);
    const browser = new RedirectBrowser();
    const callback = await browser.follow(authorizeUrl(authorizationQuery()), (url) =>
      url.startsWith(`${tenant.url}/v1/oauth/authentication`),
    );
    const { data } = expectStatus(await tenant.api.authenticationProviders.list(), 200);
    expectStatus(await tenant.api.authenticationProviders.delete(data[0]!.id), 204);
    const location = (await browser.openUrl(callback.href)).headers.get('location')!;
    expect(new URL(location).searchParams.get('error')).toBe('access_denied');
    const later = authorizationQuery({ redirect_uri: OWN_SCHEME });
    expect((await requestAuthorization(later)).location!.searchParams.get('error')).toBe('server_error');
  });
});
