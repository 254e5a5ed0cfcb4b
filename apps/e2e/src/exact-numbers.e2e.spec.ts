/** @engines embedded */
import { createHash, randomBytes } from 'node:crypto';
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
  startPlatform,
  TENANT_CLIENT,
  Wallet,
  type Answer,
  type PlatformProcess,
  type ProviderAccount,
  type TenantUnderTest,
} from '@attestry/testing';
import { CompactSign, decodeJwt } from 'jose';
import { EachFormat, FORMATS, inEachFormat, type Mappings } from './each-format.js';

/** Numbers that would be signed with another value. */
const INEXACT = ['12345678901234567891', '1e400', '0.1000000000000000055', '9007199254740993'];
/** Numbers with the same value as the shortest text of their double. */
const EXACT = { one: '1.0', hundred: '1e2', tenth: '0.1', zero: '-0', large: '1E+2' };
const MSG =
  'must be a number that a double represents exactly, such as 1.5 or 9007199254740991: send a longer one as text';
const BACK = 'https://wallet.example/back';
const HOOK = 'https://hook.example.com/visit';

/** A member that `JSON.stringify` writes as this text. */
const raw = (text: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(text);

let platform: PlatformProcess;
let provider: OpenIdProvider;
let source: ClaimsServer;
let tenant: TenantUnderTest;
let formats: EachFormat;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  source = await ClaimsServer.start();
  platform = (await startPlatform()) as PlatformProcess;
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'exact-numbers');
  formats = await EachFormat.prepare(tenant);
  await registerWallet(tenant.api, 'wallet', BACK);
  expectStatus(
    await tenant.api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
      claimsToPersist: ['birthdate', 'name'],
    }),
    201,
  );
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await provider?.stop();
  await source?.stop();
});

const ID = '10000000-0000-4000-8000-00000000000a';
/** Each operation whose body has values that are stored, signed or sent as they are: its body with a value at the path. */
const BODIES: [method: string, path: string, param: string, bodyWith: (value: unknown) => object][] = [
  ['POST', '/v1/users', 'claims.list.1.level', (level) => ({ claims: { list: [1, { level }] } })],
  ['PUT', `/v1/users/${ID}`, 'claims.level', (level) => ({ claims: { level } })],
  ['POST', '/v1/users/search', 'claims.level', (level) => ({ claims: { level } })],
  ['POST', '/v1/openid/offers/pre-authorized', 'claims.a.b', (b) => ({ credentials: [ID], claims: { a: { b } } })],
  [
    'POST',
    '/v1/openid/offers/pre-authorized',
    'claims.level',
    (level) => ({ credentials: [ID], claims: { level }, claimsToPersist: ['level'] }),
  ],
  ...['/v1/openid/offers', '/v1/openid/offers/pre-authorized'].map((path): (typeof BODIES)[number] => [
    'POST',
    path,
    'credentials.0.claimSets.0.claims.level',
    (level) => ({ credentials: [{ id: ID, claimSets: [{ identifier: 'one', claims: { level } }] }] }),
  ]),
  ...Object.values(FORMATS).flatMap(({ profile, configurationOf }) =>
    [
      ['POST', `/v2/credentials/${profile}/configurations`] as const,
      ['PUT', `/v2/credentials/${profile}/configurations/${ID}`] as const,
    ].map(([method, path]): (typeof BODIES)[number] => [
      method,
      path,
      profile === 'mobile'
        ? 'claimMappings.org.example.elements.1.level.defaultValue'
        : 'claimMappings.level.defaultValue',
      (defaultValue) => configurationOf('Refused', { level: { defaultValue } }),
    ]),
  ),
  ...[['POST', '/v1/claim-sources'] as const, ['PUT', `/v1/claim-sources/${ID}`] as const].map(
    ([method, path]): (typeof BODIES)[number] => [
      method,
      path,
      'requestParameters.level.defaultValue',
      (defaultValue) => ({
        name: 'Register',
        url: 'https://a.example',
        requestParameters: { level: { defaultValue } },
      }),
    ],
  ),
  ...[
    ['POST', '/v1/users/authentication-providers'] as const,
    ['PUT', `/v1/users/authentication-providers/${ID}`] as const,
  ].map(([method, path]): (typeof BODIES)[number] => [
    method,
    path,
    'staticRequestParameters.max_age',
    (max_age) => ({ url: provider.issuer, ...TENANT_CLIENT, staticRequestParameters: { max_age } }),
  ]),
];

describe('a number in a body with claims', () => {
  it.each(BODIES)(
    'is a 400 where it would be signed or sent with another value: %s %s %s [T672]',
    async (method, path, param, bodyWith) => {
      for (const text of INEXACT) {
        const answer = await tenant.api.client.request(method, path, { body: bodyWith(raw(text)) });
        expect([text, answer.status, answer.body]).toEqual([
          text,
          400,
          { code: 'BadRequest', message: 'Validation Error', details: [{ msg: MSG, param, location: 'body' }] },
        ]);
      }
    },
  );

  it.each(BODIES)('passes with the value of its double: %s %s %s [T672]', async (method, path, _, bodyWith) => {
    for (const text of Object.values(EXACT)) {
      const { text: answer } = await tenant.api.client.request(method, path, { body: bodyWith(raw(text)) });
      expect(answer).not.toContain(MSG);
    }
  });

  const VALUES = { one: 1, hundred: 100, tenth: 0.1, large: 100 };
  it('is signed with its value in each format: claims, claims of users, and default values [T672]', async () => {
    const mappings: Mappings = Object.fromEntries(
      Object.entries(EXACT).flatMap(([name, text]) => [
        [name, { mapFrom: `claims.${name}` }],
        [`default-${name}`, { defaultValue: raw(text) }],
        [`user-${name}`, { mapFrom: `claims.user-${name}` }],
      ]),
    );
    const configurations = await formats.configure('Numbers', mappings, 'number');
    const claims = Object.fromEntries(Object.entries(EXACT).map(([name, text]) => [name, raw(text)]));
    const ofUser = Object.fromEntries(Object.entries(EXACT).map(([name, text]) => [`user-${name}`, raw(text)]));
    const user = expectStatus(await tenant.api.users.create({ claims: ofUser }), 201);
    const issued = await formats.issue(configurations, claims, { userId: user.id });
    const expected = Object.fromEntries(
      ['', 'default-', 'user-'].flatMap((prefix) =>
        Object.entries({ ...VALUES, zero: 0 }).map(([name, value]) => [`${prefix}${name}`, value]),
      ),
    );
    // -0 is equal to 0; JSON and CBOR may have either.
    const withoutSign = [...issued].map(([format, of]) => [
      format,
      Object.fromEntries(Object.entries(of).map(([name, value]) => [name, value === 0 ? 0 : value])),
    ]);
    expect(withoutSign).toEqual([...inEachFormat(expected)]);
  });
});

const createConfiguration = async (type: string, claimMappings: Mappings, claimSourceId?: string) =>
  expectStatus(
    await tenant.api.jwtVc.create({
      type,
      name: type,
      issuer: { name: 'City' },
      claimMappings,
      ...(claimSourceId !== undefined && { claimSourceId }),
    }),
    201,
  ).id;
const MAPPINGS: Mappings = {
  birthdate: { mapFrom: 'claims.birthdate' },
  name: { mapFrom: 'claims.name' },
};
const REQUIRED: Mappings = { birthdate: { mapFrom: 'claims.birthdate', required: true } };
const verifier = randomBytes(32).toString('base64url');

/** The answer of the credential endpoint. */
type Issued = Answer<{ credentials?: { credential: string }[]; error?: string; error_description?: string }>;
const request = async (token: string, configurationId: string): Promise<Issued> => {
  const wallet = new Wallet('wallet');
  const metadata = await wallet.metadata(tenant.url);
  const jwt = [await wallet.proof(metadata, configurationId, await makeHolderKey(), await wallet.nonce(metadata))];
  return new ApiClient(tenant.url, token).request('POST', '/v1/openid/credential', {
    body: { credential_configuration_id: configurationId, proofs: { jwt } },
  });
};
const subjectOf = ({ body }: Issued) => {
  const { credentialSubject } = decodeJwt<{ vc: { credentialSubject: Record<string, unknown> } }>(
    body.credentials![0]!.credential,
  ).vc;
  const { id: _, ...claims } = credentialSubject;
  return claims;
};
const DENIED = {
  status: 400,
  body: {
    error: 'credential_request_denied',
    error_description: expect.stringMatching(/^the required claim birthdate has no value/),
  },
};
const redeemOffer = async (configurationId: string) => {
  const { uri } = expectStatus(
    await tenant.api.offers.create({ credentials: [configurationId], claims: { birthdate: '1815-12-10' } }),
    200,
  );
  const wallet = new Wallet();
  const offer = await wallet.resolveOffer(uri);
  return request(await wallet.accessToken(offer, await wallet.metadata(offer.credential_issuer)), configurationId);
};
/** Signs in, up to an address outside the platform. */
const signIn = (sub: string, type: string) => {
  const browser = new RedirectBrowser();
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: BACK, scope: `jwt_vc_json:${type}`, state: 'kept' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: sub },
  });
  const at = browser.follow(`${tenant.url}/v1/oauth/authorize?${query}`, (url) => url.startsWith('https://'));
  return at.then((address) => ({ browser, address }));
};
const redeemCode = async (address: URL, configurationId: string) => {
  const body = new URLSearchParams({
    ...{ grant_type: 'authorization_code', client_id: 'wallet', redirect_uri: BACK, code_verifier: verifier },
    code: address.searchParams.get('code')!,
  });
  const client = new ApiClient(tenant.url);
  const token = expectStatus(await client.request<{ access_token: string }>('POST', '/v1/oauth/token', { body }), 200);
  return request(token.access_token, configurationId);
};
/** Metadata of the newest event of a type. */
const metadataOf = async (wanted: string) =>
  expectStatus(await tenant.api.analytics.list({ limit: 30 }), 200).data.find(({ type }) => type === wanted)?.metadata;

describe('a claim with a number that would be signed with another value, which', () => {
  it.each(INEXACT)('a claims source returned, has no value and is named: %s [T673]', async (text) => {
    source.respond = claimsResponse(`{"birthdate":{"year":${text}},"name":"Ada"}`);
    const { id } = expectStatus(await tenant.api.claimSources.create({ name: 'Register', url: source.url }), 201);
    const type = `Sourced${INEXACT.indexOf(text)}`;
    expect(subjectOf(await redeemOffer(await createConfiguration(type, MAPPINGS, id)))).toEqual({ name: 'Ada' });
    expect(await metadataOf('OPENID_CREDENTIAL_SUCCESS')).toMatchObject({ unusableClaims: ['birthdate'] });
    const required = await createConfiguration(`${type}Required`, REQUIRED, id);
    expect(await redeemOffer(required)).toMatchObject(DENIED);
    expect(await metadataOf('OPENID_CREDENTIAL_FAIL')).toMatchObject({ unusableClaims: ['birthdate'] });
  });

  it('an ID token has, has no value and is named [T673]', async () => {
    const account = { sub: 'ada', name: 'Ada', birthdate: raw(INEXACT[0]!) } as ProviderAccount;
    provider.accounts.set(account.sub, account);
    const optional = await createConfiguration('Signed', MAPPINGS);
    const { address } = await signIn('ada', 'Signed');
    expect(subjectOf(await redeemCode(address, optional))).toEqual({ name: 'Ada' });
    expect(await metadataOf('OPENID_AUTHENTICATION_CALLBACK_SUCCESS')).toMatchObject({ unusableClaims: ['birthdate'] });
    const required = await createConfiguration('SignedRequired', REQUIRED);
    expect(await redeemCode((await signIn('ada', 'SignedRequired')).address, required)).toMatchObject(DENIED);
  });

  it('the interaction hook returned, has no value and is named [T673]', async () => {
    provider.accounts.set('max', { sub: 'max', name: 'Max' });
    const { interactionHook } = expectStatus(
      await tenant.api.openIdConfiguration.update({ interactionHook: { url: HOOK } }),
      200,
    );
    const visit = async (type: string) => {
      const { browser, address } = await signIn('max', type);
      const { state, redirectUrl } = decodeJwt<{ state: string; redirectUrl: string }>(
        address.searchParams.get('session_token')!,
      );
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: HOOK, aud: tenant.url, state, iat: now, exp: now + 60 };
      const text = JSON.stringify({ ...claims, claims: { birthdate: [raw(INEXACT[3]!)], name: 'Born' } });
      const result = await new CompactSign(Buffer.from(text))
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .sign(Buffer.from(interactionHook!.secret, 'base64'));
      return new URL((await browser.openUrl(`${redirectUrl}?session_token=${result}`)).headers.get('location')!);
    };
    const optional = await createConfiguration('Hooked', MAPPINGS);
    expect(subjectOf(await redeemCode(await visit('Hooked'), optional))).toEqual({ name: 'Born' });
    expect(await metadataOf('OPENID_INTERACTION_CALLBACK_SUCCESS')).toMatchObject({ unusableClaims: ['birthdate'] });
    const required = await createConfiguration('HookedRequired', REQUIRED);
    expect(await redeemCode(await visit('HookedRequired'), required)).toMatchObject(DENIED);
  });
});
