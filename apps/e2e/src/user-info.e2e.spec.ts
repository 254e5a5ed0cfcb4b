import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiClient,
  claimsResponse,
  ClaimsServer,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  settledRecords,
  sharedPlatform,
  TENANT_CLIENT,
  verifyJwtVc,
  Wallet,
  type Answer,
  type TenantUnderTest,
} from '@attestry/testing';
import { jwtVerify, SignJWT } from 'jose';

const BACK = 'https://wallet.example/back';
const verifier = randomBytes(32).toString('base64url');

let newTenant: (name: string, provider: OpenIdProvider) => Promise<TenantUnderTest>;
const providers: OpenIdProvider[] = [];
let endpoint: ClaimsServer;

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  endpoint = await ClaimsServer.start();
  newTenant = async (name, provider) => {
    const tenant = await createTenantUnderTest(platform, management, name);
    await registerWallet(tenant.api, 'wallet', BACK);
    const settings = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters: ['login_hint'] };
    expectStatus(await tenant.api.authenticationProviders.create(settings), 201);
    expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    return tenant;
  };
}, PLATFORM_START_MS);
afterAll(async () => {
  await Promise.all([endpoint?.stop(), ...providers.map((provider) => provider.stop())]);
});

/** Claims of its scopes are in UserInfo only, as OpenID Connect Core 1.0 §5.4 has it. @param announced instead of its own endpoint */
const newProvider = async (announced?: string) => {
  const provider = await OpenIdProvider.start('https://management.example', 'json');
  providers.push(provider);
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë', email: 'zoe@people.example' });
  if (announced !== undefined) provider.announced = { userinfo_endpoint: announced };
  return provider;
};
const configure = async ({ api }: TenantUnderTest, type: string, names: Record<string, object>) =>
  expectStatus(
    await api.jwtVc.create({
      ...{ type, name: type, issuer: { name: 'City' } },
      claimMappings: Object.fromEntries(
        Object.entries(names).map(([name, more]) => [name, { mapFrom: `claims.${name}`, ...more }]),
      ),
    }),
    201,
  ).id;
const authorizeUrl = (tenant: TenantUnderTest, type: string): string => {
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: BACK, scope: `jwt_vc_json:${type}` },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: 'zoe' },
  });
  return `${tenant.url}/v1/oauth/authorize?${query}`;
};
const signIn = async (tenant: TenantUnderTest, type: string) =>
  (await new RedirectBrowser().follow(authorizeUrl(tenant, type), (url) => url.startsWith(BACK))).searchParams;
const collect = async (tenant: TenantUnderTest, configuration: string, code: string) => {
  const token: Answer<{ access_token: string }> = await new ApiClient(tenant.url).request('POST', '/v1/oauth/token', {
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: 'wallet', redirect_uri: BACK, code_verifier: verifier, code },
    }),
  });
  expect(token.status).toBe(200);
  const wallet = new Wallet('wallet');
  const metadata = await wallet.metadata(tenant.url);
  const [credential] = await wallet.credentials(metadata, token.body.access_token, configuration, [
    await makeHolderKey(),
  ]);
  const { id: _, ...subject } = (await verifyJwtVc(credential as string)).payload.vc!['credentialSubject'] as object & {
    id: string;
  };
  return subject;
};
/** Error messages, or `undefined`, and `userInfoFailure` of the newest records. */
const recordsOf = async ({ api }: TenantUnderTest, type: RegExp) => {
  await settledRecords(api);
  return expectStatus(await api.analytics.list({ limit: 100 }), 200)
    .data.filter((record) => type.test(record.type))
    .map(({ type: name, metadata }) => {
      const { error, userInfoFailure } = metadata as { error?: { message: string }; userInfoFailure?: string };
      return [name, error?.message, userInfoFailure];
    });
};

describe('claims of UserInfo', () => {
  it('are in the credential that a person who signed in collects [T637]', async () => {
    const provider = await newProvider();
    const tenant = await newTenant('user-info', provider);
    const pass = await configure(tenant, 'Pass', { given_name: { required: true }, email: {} });
    const code = (await signIn(tenant, 'Pass')).get('code')!;
    expect(await collect(tenant, pass, code)).toEqual({ given_name: 'Zoë', email: 'zoe@people.example' });
    expect(provider.userInfo.requests).toBe(1);

    const subject = { mapFrom: 'authenticationProvider.subjectId' };
    const badge = await configure(tenant, 'Badge', { subject });
    expect(await collect(tenant, badge, (await signIn(tenant, 'Badge')).get('code')!)).toEqual({ subject: 'zoe' });
    expect(provider.userInfo.requests).toBe(1);

    // Missing in both: the refusal says so.
    const visa = await configure(tenant, 'Visa', { given_name: {}, passport: { required: true } });
    await expect(collect(tenant, visa, (await signIn(tenant, 'Visa')).get('code')!)).rejects.toThrow();
    expect(provider.userInfo.requests).toBe(2);
    expect(await recordsOf(tenant, /^OPENID_CREDENTIAL.*_FAIL$/)).toEqual([
      [
        expect.any(String),
        'the required claim passport has no value: neither the ID token nor UserInfo has it',
        undefined,
      ],
    ]);
  });

  it('are missing when UserInfo fails: the sign-in succeeds, and the refusal of a required claim says why [T642]', async () => {
    const tenant = await newTenant('user-info-fails', await newProvider(endpoint.url));
    const optional = await configure(tenant, 'Optional', { given_name: { defaultValue: 'someone' } });
    const required = await configure(tenant, 'Required', { given_name: { required: true } });
    endpoint.respond = claimsResponse({ sub: 'zoe', given_name: 'Zoë' }, { status: 503 });
    expect(await collect(tenant, optional, (await signIn(tenant, 'Optional')).get('code')!)).toEqual({
      given_name: 'someone',
    });
    const code = (await signIn(tenant, 'Required')).get('code')!;
    await expect(collect(tenant, required, code)).rejects.toThrow();
    expect(await recordsOf(tenant, /^OPENID_(CREDENTIAL.*_FAIL|AUTHENTICATION_CALLBACK_SUCCESS)$/)).toEqual([
      [
        expect.stringContaining('CREDENTIAL'),
        'the required claim given_name has no value: the ID token does not have it, and UserInfo failed: the answer had status 503',
        undefined,
      ],
      ['OPENID_AUTHENTICATION_CALLBACK_SUCCESS', undefined, 'the answer had status 503'],
      ['OPENID_AUTHENTICATION_CALLBACK_SUCCESS', undefined, 'the answer had status 503'],
    ]);
    expect(endpoint.calls.every(({ method, headers }) => method === 'GET' && headers.authorization !== undefined)).toBe(
      true,
    );
  });

  it('reach the interaction hook, and their failure is known after its visit [T642]', async () => {
    const tenant = await newTenant('user-info-hook', await newProvider(endpoint.url));
    const pass = await configure(tenant, 'Pass', { given_name: { required: true } });
    const url = 'https://hook.example.com/visit';
    const settings = await tenant.api.openIdConfiguration.update({ interactionHook: { url, claims: ['given_name'] } });
    const { secret } = expectStatus(settings, 200).interactionHook!;
    const key = Buffer.from(secret, 'base64');
    // Other processes may remember for a second that there was no hook.
    await pause(1100);
    const visit = async () => {
      const browser = new RedirectBrowser();
      const there = await browser.follow(authorizeUrl(tenant, 'Pass'), (at) => at.startsWith(url));
      const { payload } = await jwtVerify(there.searchParams.get('session_token')!, key);
      const back = await new SignJWT({ iss: url, aud: tenant.url, state: payload['state'] })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(key);
      const answer = await browser.openUrl(`${payload['redirectUrl'] as string}?session_token=${back}`);
      return { claims: payload['claims'], code: new URL(answer.headers.get('location')!).searchParams.get('code')! };
    };
    endpoint.respond = claimsResponse({ sub: 'zoe', given_name: 'Zoë' });
    const { claims, code } = await visit();
    expect(claims).toEqual({ given_name: 'Zoë' });
    expect(await collect(tenant, pass, code)).toEqual({ given_name: 'Zoë' });
    endpoint.respond = claimsResponse({}, { status: 404 });
    await expect(collect(tenant, pass, (await visit()).code)).rejects.toThrow();
    const [[, message]] = (await recordsOf(tenant, /^OPENID_CREDENTIAL.*_FAIL$/)) as [[string, string]];
    expect(message).toContain('UserInfo failed: the answer had status 404');
  });

  it('of another person end the sign-in [T640]', async () => {
    const tenant = await newTenant('user-info-other', await newProvider(endpoint.url));
    await configure(tenant, 'Pass', { given_name: {} });
    for (const [body, reason] of [
      [{ sub: 'tom', given_name: 'Tom' }, 'with another sub than the ID token'],
      [{ given_name: 'Tom' }, 'without sub'],
    ] as const) {
      endpoint.respond = claimsResponse(body);
      const back = await signIn(tenant, 'Pass');
      const message = `the authentication provider returned a UserInfo response ${reason}`;
      expect([back.get('code'), back.get('error'), back.get('error_description')]).toEqual([
        null,
        'server_error',
        message,
      ]);
      const [latest] = await recordsOf(tenant, /^OPENID_AUTHENTICATION_CALLBACK_(FAIL|SUCCESS)$/);
      expect(latest).toEqual(['OPENID_AUTHENTICATION_CALLBACK_FAIL', message, undefined]);
    }
    expect(expectStatus(await tenant.api.users.list(), 200).data).toEqual([]);
  });
});
