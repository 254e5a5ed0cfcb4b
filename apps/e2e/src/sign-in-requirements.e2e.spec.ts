import { createHash, randomBytes } from 'node:crypto';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  TENANT_CLIENT,
  waitUntil,
  type TenantUnderTest,
} from '@attestry/testing';

const WALLET = 'wallet.example';
const BACK = 'https://wallet.example/back';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë', email: 'zoe@people.example' });
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'step-up');
  await registerWallet(tenant.api, WALLET, BACK);
  expectStatus(await tenant.api.authenticationProviders.create(settings()), 201);
  const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const request = { type: 'Course', name: 'Course', issuer: { name: 'College' }, issuerDid: did };
  expectStatus(
    await tenant.api.jwtVc.create({ ...request, claimMappings: { name: { mapFrom: 'claims.given_name' } } }),
    201,
  );
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const settings = (more: object = {}) => ({
  url: provider.issuer,
  ...TENANT_CLIENT,
  forwardedRequestParameters: ['login_hint'],
  ...more,
});
const save = async (more: object) => {
  const [saved] = expectStatus(await tenant.api.authenticationProviders.list(), 200).data;
  return tenant.api.authenticationProviders.update(saved!.id, settings(more));
};

/** Parameters that the wallet gets at its redirect URI. @param change what the person does to the address of the provider */
const signIn = async (change: (url: URL) => void = () => undefined) => {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: WALLET,
    redirect_uri: BACK,
    scope: 'jwt_vc_json:Course',
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    login_hint: 'zoe',
  });
  const browser = new RedirectBrowser();
  const there = await browser.follow(`${tenant.url}/v1/oauth/authorize?${query}`, (url) =>
    url.startsWith(provider.issuer),
  );
  change(there);
  return (await browser.follow(there.href, (url) => url.startsWith(BACK))).searchParams;
};
/** Record of the newest refused sign-in. */
const recorded = async (since: string): Promise<Record<string, unknown>> => {
  const find = async () =>
    expectStatus(await tenant.api.analytics.list({ categories: ['openid'], limit: 100 }), 200).data.find(
      ({ type, timestamp }) => type === 'OPENID_AUTHENTICATION_CALLBACK_FAIL' && timestamp >= since,
    );
  await waitUntil(async () => (await find()) !== undefined, { what: 'the record' });
  return (await find())!.metadata as Record<string, unknown>;
};

describe('a provider that refuses the credentials of its client', () => {
  it('is named by the error of the wallet and by the record, with code and status [T754]', async () => {
    expectStatus(await save({ clientSecret: 'another secret' }), 200);
    const since = new Date().toISOString();
    const back = await signIn();
    const message = "the authentication provider refused the client's credentials";
    expect([back.get('error'), back.get('error_description')]).toEqual(['server_error', message]);
    expect(await recorded(since)).toMatchObject({
      providerError: { code: 'invalid_client', status: 401 },
      error: { status: 500, code: 'server_error', message },
    });
    expectStatus(await save({}), 200);
    expect((await signIn()).has('code')).toBe(true);
  });
});

describe('a provider that requires a level of authentication', () => {
  it('refuses a sign-in whose parameter was removed in the browser, and records the requirement [T749, T754]', async () => {
    expectStatus(await save({ staticRequestParameters: { acr_values: '2' } }), 200);
    expect((await signIn()).has('code')).toBe(true);
    const since = new Date().toISOString();
    const back = await signIn((url) => url.searchParams.delete('acr_values'));
    expect(back.get('error')).toBe('access_denied');
    expect(await recorded(since)).toMatchObject({
      requirement: 'staticRequestParameters.acr_values',
      error: { status: 401, code: 'access_denied' },
    });
  });

  it('refuses a session that is older than max_age when the sign-in begins [T750]', async () => {
    expectStatus(await save({ staticRequestParameters: { max_age: '0' } }), 200);
    expect((await signIn()).has('code')).toBe(true);
    expect((await signIn((url) => url.searchParams.delete('max_age'))).get('error')).toBe('access_denied');
  });

  it('refuses a person without a required claim [T751]', async () => {
    expectStatus(await save({ requiredClaims: { given_name: ['Zoë', 'Max'] } }), 200);
    expect((await signIn()).has('code')).toBe(true);
    expectStatus(await save({ requiredClaims: { given_name: ['Max'] } }), 200);
    const since = new Date().toISOString();
    expect((await signIn()).get('error')).toBe('access_denied');
    expect(await recorded(since)).toMatchObject({ requirement: 'requiredClaims.given_name' });
  });

  it.each([
    { staticRequestParameters: { max_age: 1.5 } },
    { staticRequestParameters: { max_age: '-1' } },
    { staticRequestParameters: { acr_values: [] } },
    { staticRequestParameters: { claims: '{"id_token":{"acr":{"essential":"yes"}}}' } },
    { requiredClaims: { acr: '2' } },
    { requiredClaims: { email_verified: [] } },
  ])('is not saved with %j [T752]', async (more) => {
    const answer = await save(more);
    expect(answer.status).toBe(400);
    const { details } = answer.body as unknown as { details: { param: string }[] };
    expect(details.map(({ param }) => param)).toEqual(Object.keys(more));
  });
});
