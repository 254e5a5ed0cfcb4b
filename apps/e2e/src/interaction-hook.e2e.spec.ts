/** @engines embedded */
import { createHash, randomBytes } from 'node:crypto';
import {
  ApiClient,
  claimsResponse,
  ClaimsServer,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  searchFolders,
  startPlatform,
  TENANT_CLIENT,
  verifyJwtVc,
  waitUntil,
  Wallet,
  type Answer,
  type ManagementApi,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { jwtVerify, SignJWT } from 'jose';

const BACK = 'https://wallet.example/back';
/** The browser is sent there, and does not open it. */
const HOOK = 'https://hook.example.com/visit';
const CLAIM_OF_HOOK = 'canary-claim-of-the-hook';

let platform: PlatformProcess;
let management: ManagementApi;
let provider: OpenIdProvider;
let source: ClaimsServer;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let walletId: string;
let pass: string;
let secret: string;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  source = await ClaimsServer.start();
  platform = (await startPlatform()) as PlatformProcess;
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'hooked');
  other = await createTenantUnderTest(platform, management, 'unhooked');
  walletId = (await registerWallet(tenant.api, 'wallet', BACK)).id;
  expectStatus(
    await tenant.api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
      claimsToPersist: ['email'],
    }),
    201,
  );
  expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  pass = await createConfiguration('Pass');
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await provider?.stop();
  await source?.stop();
});
beforeEach(async () => {
  secret = await makeHook({ claims: ['email', 'given_name', 'level', 'missing'] });
});

const NAMES = ['email', 'given_name', 'level', 'degree'];
const createConfiguration = async (type: string, claimSourceId?: string) =>
  expectStatus(
    await tenant.api.jwtVc.create({
      ...{ type, name: type, issuer: { name: 'City' } },
      claimMappings: {
        ...Object.fromEntries(NAMES.map((name) => [name, { mapFrom: `claims.${name}` }])),
        subject: { mapFrom: 'authenticationProvider.subjectId' },
      },
      ...(claimSourceId !== undefined && { claimSourceId }),
    }),
    201,
  ).id;
type HookRequest = NonNullable<
  Parameters<TenantUnderTest['api']['openIdConfiguration']['update']>[0]['interactionHook']
>;
const change = async (interactionHook: HookRequest | null) =>
  expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook }), 200).interactionHook;
/** Returns its secret. */
const makeHook = async (more: HookRequest = {}): Promise<string> => {
  await change(null);
  return (await change({ url: HOOK, ...more }))!.secret;
};

const verifier = randomBytes(32).toString('base64url');
const authorizeUrl = (sub: string, type = 'Pass') =>
  `${tenant.url}/v1/oauth/authorize?${new URLSearchParams({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: BACK, scope: `jwt_vc_json:${type}`, state: 'kept' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: sub },
  })}`;
interface Visit {
  browser: RedirectBrowser;
  token: string;
  claims: Record<string, unknown>;
  state: string;
  redirectUrl: string;
}
/** Signs in, up to the hook. */
const visitHook = async (sub: string, type?: string): Promise<Visit> => {
  const browser = new RedirectBrowser();
  const address = await browser.follow(authorizeUrl(sub, type), (url) => url.startsWith('https://'));
  expect(`${address.origin}${address.pathname}`).toBe(HOOK);
  const token = address.searchParams.get('session_token')!;
  const { payload } = await jwtVerify(token, Buffer.from(secret, 'base64'), {
    ...{ algorithms: ['HS256'], issuer: tenant.url, audience: HOOK, requiredClaims: ['iat', 'exp'] },
  });
  const { claims, state, redirectUrl } = payload as unknown as Visit;
  return { browser, token, claims, state, redirectUrl };
};
const signResult = ({ state }: Pick<Visit, 'state'>, members: object = {}, key = secret) =>
  new SignJWT({ ...{ iss: HOOK, aud: tenant.url, state }, ...members })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuedAt()
    .setExpirationTime('1m')
    .sign(Buffer.from(key, 'base64'));
/** Opens the return address: status, redirect, and error and description of a page. */
const comeBack = async ({ browser, redirectUrl }: Pick<Visit, 'browser' | 'redirectUrl'>, token: string) => {
  const answer = await browser.openUrl(`${redirectUrl}?session_token=${token}`);
  const location = answer.headers.get('location');
  const page = [...(await answer.text()).matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text).slice(0, 2);
  const back = location === null ? undefined : new URL(location);
  return {
    status: answer.status,
    page,
    back: back && { address: `${back.origin}${back.pathname}`, ...Object.fromEntries(back.searchParams) },
  };
};
const denied = (description: string) => ({
  status: 302,
  page: [],
  back: { address: BACK, error: 'access_denied', error_description: description, state: 'kept', iss: tenant.url },
});
const UNKNOWN = {
  status: 400,
  page: ['invalid_request', 'the sign-in has ended or was started in another browser; start again in the wallet'],
  back: undefined,
};
const collect = async ({ back }: Awaited<ReturnType<typeof comeBack>>, configuration = pass) => {
  const { code, ...rest } = back as unknown as Record<string, string>;
  expect(rest).toEqual({ address: BACK, state: 'kept', iss: tenant.url });
  const client = new ApiClient(tenant.url);
  const token: Answer<{ access_token: string }> = await client.request('POST', '/v1/oauth/token', {
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', client_id: 'wallet', redirect_uri: BACK, code_verifier: verifier },
      code: code!,
    }),
  });
  expect(token.status).toBe(200);
  const wallet = new Wallet('wallet');
  const metadata = await wallet.metadata(tenant.url);
  const [credential] = await wallet.credentials(metadata, token.body.access_token, configuration, [
    await makeHolderKey(),
  ]);
  const { id: _, ...subject } = (await verifyJwtVc(credential as string)).payload.vc!['credentialSubject'] as Record<
    string,
    unknown
  >;
  return subject;
};
const personOf = (sub: string, more: object = {}) => {
  provider.accounts.set(sub, { sub, ...more });
  return sub;
};
const userOf = (sub: string) =>
  waitUntil(async () =>
    expectStatus(await tenant.api.users.list({ limit: 1000 }), 200).data.find(
      ({ authenticationProvider }) => authenticationProvider?.subjectId === sub,
    ),
  );
const outcomesOf = async (count: number) =>
  expectStatus(await tenant.api.analytics.list({ limit: 30 }), 200)
    .data.filter(({ type }) => /^OPENID_(AUTHENTICATION|INTERACTION)_CALLBACK_/.test(type))
    .slice(0, count);

const SECONDS = 'must be an integer from 60 to 3600, or null for the default';

describe('the settings of the interaction hook', () => {
  it('show the secret when it is made, change member by member, and reset with null [T418]', async () => {
    await change(null);
    const { retrieve, update } = tenant.api.openIdConfiguration;
    expect(expectStatus(await retrieve(), 200)).not.toHaveProperty('interactionHook');
    const made = (await change({ url: HOOK }))!;
    expect(made).toEqual({
      ...{ url: HOOK, claims: [], sessionTimeoutInSec: 1200, disabled: false },
      secret: expect.any(String),
    });
    expect(Buffer.from(made.secret, 'base64')).toHaveLength(32);
    const masked = { ...made, secret: `**********${made.secret.slice(-5)}` };
    expect(expectStatus(await retrieve(), 200).interactionHook).toEqual(masked);
    expect(await change({ claims: ['email'] })).toEqual({ ...masked, claims: ['email'] });
    const { allowUnregisteredWallets: _, ...rest } = expectStatus(
      await update({ allowUnregisteredWallets: true }),
      200,
    );
    expect(rest.interactionHook).toEqual({ ...masked, claims: ['email'] });
    // A hook that was read can be sent back.
    expect(await change({ ...masked, sessionTimeoutInSec: 60 })).toEqual({ ...masked, sessionTimeoutInSec: 60 });
    expect(await change({ sessionTimeoutInSec: null, disabled: true })).toEqual({ ...masked, disabled: true });
    const renewed = (await change({ secret: null, disabled: null }))!;
    expect(renewed.secret).toMatch(/^[A-Za-z0-9+/]{43}=$/);
    expect(renewed.secret).not.toBe(made.secret);
    expect(await change({})).toEqual({ ...masked, secret: `**********${renewed.secret.slice(-5)}` });
    expect(await change(null)).toBe(undefined);
    expect(expectStatus(await other.api.openIdConfiguration.retrieve(), 200)).not.toHaveProperty('interactionHook');
  });

  it.each([
    [{ url: 'x' }, 'url', 'must be a valid URL'],
    [{ url: 'https://h.example.com/?a=1' }, 'url', 'must not have a query'],
    [{ url: null }, 'url', 'must be a string'],
    [{ claims: 'email' }, 'claims', 'must be an array'],
    [{ claims: ['a', 'a'] }, 'claims', 'must not repeat an entry'],
    [{ claims: Array.from({ length: 101 }, (_, n) => `c${n}`) }, 'claims', 'must have at most 100 entries'],
    [{ sessionTimeoutInSec: 59 }, 'sessionTimeoutInSec', SECONDS],
    [{ sessionTimeoutInSec: 3601 }, 'sessionTimeoutInSec', SECONDS],
    [{ sessionTimeoutInSec: '60' }, 'sessionTimeoutInSec', SECONDS],
    [{ disabled: 'yes' }, 'disabled', 'must be a boolean, or null for the default'],
    [
      { secret: Buffer.alloc(32).toString('base64') },
      'secret',
      'must be null for a new secret, or omitted: it is generated by the server',
    ],
    [
      { secret: '**********abcde' },
      'secret',
      'must be null for a new secret, or omitted: it is generated by the server',
    ],
  ])('are refused with %j [T418]', async (members, member, msg) => {
    const before = expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200);
    const answer = await tenant.api.openIdConfiguration.update({ interactionHook: members as never });
    expect([answer.status, answer.body]).toEqual([
      400,
      expect.objectContaining({ details: [{ param: `interactionHook.${member}`, msg, location: 'body' }] }),
    ]);
    expect(expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200)).toEqual(before);
  });

  it('are the only ones that a managed issuer changes [T418]', async () => {
    const { openIdConfiguration } = await connectWithRoles(platform, management, tenant, ['managed-issuer']);
    const hook = { interactionHook: { disabled: true } };
    expect(expectStatus(await openIdConfiguration.update(hook), 200).interactionHook!.disabled).toBe(true);
    for (const body of [
      { allowUnregisteredWallets: true },
      { ...hook, strictClaimsSources: true },
      { encryption: null },
    ]) {
      expect((await openIdConfiguration.update(body)).status).toBe(403);
    }
    const issuer = (await connectWithRoles(platform, management, tenant, ['issuer'])).openIdConfiguration;
    expectStatus(await issuer.update({ ...hook, strictClaimsSources: null }), 200);
    const verifier = (await connectWithRoles(platform, management, tenant, ['verifier'])).openIdConfiguration;
    expect((await verifier.update(hook)).status).toBe(403);
  });
});

describe('a person who signs in', () => {
  it('visits the hook with the claims that it may get, and returns with others [T420, T421, T422]', async () => {
    const ada = personOf('ada', { given_name: 'Ada', email: 'ada@people.example', email_verified: true });
    const visit = await visitHook(ada);
    expect(visit.redirectUrl).toBe(`${tenant.url}/v1/oauth/interaction/callback`);
    expect(visit.claims).toEqual({ email: 'ada@people.example', given_name: 'Ada' });
    const result = {
      claims: { given_name: 'Augusta', level: 2, degree: CLAIM_OF_HOOK },
      claimsToPersist: ['level', 'missing'],
    };
    const back = await comeBack(visit, await signResult(visit, result));
    expect(await collect(back)).toEqual({
      ...{ email: 'ada@people.example', given_name: 'Augusta', level: 2, degree: CLAIM_OF_HOOK, subject: ada },
    });
    const { id: userId, claims } = await waitUntil(async () => {
      const user = await userOf(ada);
      return 'level' in user.claims && user;
    });
    expect(claims).toMatchObject({ email: 'ada@people.example', level: 2 });
    expect((await outcomesOf(4)).map(({ type, metadata }) => [type, (metadata as { userId?: string }).userId])).toEqual(
      [
        ['OPENID_INTERACTION_CALLBACK_SUCCESS', userId],
        ['OPENID_INTERACTION_CALLBACK_START', undefined],
        ['OPENID_AUTHENTICATION_CALLBACK_SUCCESS', userId],
        ['OPENID_AUTHENTICATION_CALLBACK_START', undefined],
      ],
    );

    // The hook gets stored claims too, and the provider's are newer.
    personOf(ada, { given_name: 'Ada', email: 'ada@newer.example' });
    expect((await visitHook(ada)).claims).toEqual({ email: 'ada@newer.example', given_name: 'Ada', level: 2 });
  });

  it('gets the claims of the later source: user, provider, hook, claims source [T416]', async () => {
    source.respond = claimsResponse({ degree: 'source' });
    const mapped = Object.fromEntries(NAMES.map((name) => [name, { mapFrom: `claims.${name}` }]));
    const { id } = expectStatus(
      await tenant.api.claimSources.create({
        ...{ name: 'x', url: source.url, requestMethod: 'POST', requestParameters: mapped },
      }),
      201,
    );
    const configuration = await createConfiguration('Sourced', id);
    const eva = personOf('eva', { email: 'provider' });
    const first = await visitHook(eva);
    const all = (value: string) => Object.fromEntries(NAMES.map((name) => [name, value]));
    const persisted = { claims: all('user'), claimsToPersist: NAMES };
    await comeBack(first, await signResult(first, persisted));
    personOf(eva, { email: 'provider', given_name: 'provider' });
    const visit = await visitHook(eva, 'Sourced');
    const claims = { given_name: 'hook', degree: 'hook' };
    const back = await comeBack(visit, await signResult(visit, { claims }));
    expect(await collect(back, configuration)).toEqual({
      ...{ email: 'provider', given_name: 'hook', level: 'user', degree: 'source', subject: eva },
    });
    expect(JSON.parse(source.calls.at(-1)!.text)).toEqual({
      ...{ email: 'provider', given_name: 'hook', level: 'user', degree: 'hook' },
    });
  });

  it('returns once, in the same browser, to the same tenant [T421]', async () => {
    const visit = await visitHook(personOf('max'));
    const token = await signResult(visit);
    expect(await comeBack({ ...visit, browser: new RedirectBrowser() }, token)).toEqual(UNKNOWN);
    const elsewhere = visit.redirectUrl.replace(tenant.url, other.url);
    expect(await comeBack({ ...visit, redirectUrl: elsewhere }, token)).toEqual(UNKNOWN);
    for (const foreign of [
      '',
      'x',
      visit.token.split('.')[1]!,
      await signResult({ state: randomBytes(16).toString('hex') }),
    ])
      expect(await comeBack(visit, foreign)).toEqual(UNKNOWN);
    const long = await comeBack(visit, 'x'.repeat(8193));
    expect(long).toMatchObject({ status: 400, back: undefined });
    const back = await comeBack(visit, token);
    expect(await comeBack(visit, token)).toEqual(UNKNOWN);
    expect(await collect(back)).toEqual({ subject: 'max' });
  });

  it.each<[string, object, string]>([
    ['of another issuer', { iss: 'https://other.example.com' }, 'iss must be the url of the interaction hook'],
    ['for another issuer', { aud: 'https://other.example.com' }, 'aud must be the credential issuer identifier'],
    ['with claims that are no object', { claims: ['x'] }, 'claims must be an object'],
    ['with names that are no strings', { claimsToPersist: [1] }, 'claimsToPersist must be an array of strings'],
  ])('is refused with a token %s, and cannot try again [T421]', async (_what, members, reason) => {
    const visit = await visitHook(personOf('max'));
    expect(await comeBack(visit, await signResult(visit, members))).toEqual(denied(`session_token: ${reason}`));
    expect((await outcomesOf(1))[0]).toMatchObject({
      type: 'OPENID_INTERACTION_CALLBACK_FAIL',
      metadata: { error: { code: 'access_denied', message: `session_token: ${reason}` } },
    });
    expect(await comeBack(visit, await signResult(visit))).toEqual(UNKNOWN);
  });

  it('is refused with a token that was not signed with the secret [T421]', async () => {
    const reason = 'session_token: the signature was not made with the secret of the interaction hook';
    const visit = await visitHook(personOf('max'));
    expect(await comeBack(visit, await signResult(visit, {}, randomBytes(32).toString('base64')))).toEqual(
      denied(reason),
    );
    // The token for the hook is not one of the hook.
    const again = await visitHook(personOf('max'));
    expect(await comeBack(again, again.token)).toEqual(
      denied('session_token: iss must be the url of the interaction hook'),
    );
  });

  it.each<[string, () => Promise<unknown>]>([
    ['was disabled', () => change({ disabled: true })],
    ['was removed', () => change(null)],
    ['has another address', () => change({ url: 'https://hook.example.com/other' })],
    ['has another secret', () => change({ secret: null })],
  ])('is refused when the hook %s meanwhile [T421]', async (_what, changeHook) => {
    const visit = await visitHook(personOf('max'));
    await changeHook();
    expect(await comeBack(visit, await signResult(visit))).toEqual(
      denied('the interaction hook of the issuer has changed; start again in the wallet'),
    );
  });

  it('is refused when the user was deleted meanwhile, or the wallet disabled [T421]', async () => {
    const gone = personOf('gone');
    const visit = await visitHook(gone);
    expectStatus(await tenant.api.users.delete((await userOf(gone)).id), 204);
    expect(await comeBack(visit, await signResult(visit))).toEqual(
      denied('the user was deleted; start again in the wallet'),
    );
    const held = await visitHook(personOf('max'));
    const wallet = { name: 'Wallet', clientId: 'wallet', redirectUris: [BACK] };
    expectStatus(await tenant.api.wallets.update(walletId, { ...wallet, disabled: true }), 200);
    expect(await comeBack(held, await signResult(held))).toMatchObject({
      ...{ status: 400, page: ['unauthorized_client', 'this issuer has disabled the wallet'], back: undefined },
    });
    expectStatus(await tenant.api.wallets.update(walletId, wallet), 200);
  });

  it('is not sent to a hook that is disabled, nor with a pre-authorized offer [T419]', async () => {
    await change({ disabled: true });
    const browser = new RedirectBrowser();
    const back = await browser.follow(authorizeUrl(personOf('max')), (url) => url.startsWith('https://'));
    expect([`${back.origin}${back.pathname}`, back.searchParams.has('code')]).toEqual([BACK, true]);
    await change({ disabled: false });
    const offer = expectStatus(await tenant.api.offers.create({ credentials: [pass], claims: { level: 1 } }), 200);
    expect((await new Wallet().collect(offer.uri)).credentials).toHaveLength(1);
  });

  it('gets an error when the claims for the hook have no place in an address [T420]', async () => {
    const big = personOf('big', { given_name: 'x'.repeat(3000) });
    expectStatus(
      await tenant.api.openIdConfiguration.update({ interactionHook: { claims: ['given_name', 'level'] } }),
      200,
    );
    const visit = await visitHook(big);
    const stored = { claims: { level: 'y'.repeat(4000) }, claimsToPersist: ['level'] };
    await comeBack(visit, await signResult(visit, stored));
    const browser = new RedirectBrowser();
    const back = await browser.follow(authorizeUrl(big), (url) => url.startsWith('https://'));
    expect(Object.fromEntries(back.searchParams)).toMatchObject({
      error: 'server_error',
      error_description: 'the claims for the interaction hook are too large for an address',
    });
  });
});

describe('what is stored of the interaction hook', () => {
  it('has neither its secret nor its claims in plain text [T418]', async () => {
    const { sightings } = await searchFolders(
      [platform.folder],
      [
        { name: 'secret', value: secret },
        { name: 'claim', value: CLAIM_OF_HOOK },
      ],
    );
    expect(sightings).toEqual([]);
  });
});
