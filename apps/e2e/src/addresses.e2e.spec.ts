import { createHash, randomBytes } from 'node:crypto';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  TENANT_CLIENT,
  type TenantUnderTest,
} from '@attestry/testing';
import { EachFormat, FORMATS } from './each-format.js';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;
/** Without a provider. */
let other: TenantUnderTest;
/** Replaced resources, by the path that each is created at. */
const existing = new Map<string, { of: TenantUnderTest; id: string }>();

/** With everything that must stay as it is, and parameters that only the issuer may set. */
const KEPT = 'https://wallet.example/b%20ck/%2e?a=b%20c&flag&x=%2F&empty=&p=1+2&q=%zz&u=%C3%BC&&=&codes=1';
const BACK = `${KEPT}&code=own&state=own&iss=own&error=own&error_description=own&error_uri=own&c%6fde=own`;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('ada', { sub: 'ada', name: 'Ada' });
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'addresses');
  other = await createTenantUnderTest(platform, management, 'other-addresses');
  const { api, host } = tenant;
  expectStatus(await api.dids.create({ method: 'web', options: { url: host } }), 201);
  const { id } = expectStatus(
    await api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  existing.set('/v1/users/authentication-providers', { of: tenant, id });
  const claimMappings = { name: { mapFrom: 'claims.name' } };
  expectStatus(await api.jwtVc.create({ type: 'Pass', name: 'Pass', issuer: { name: 'City' }, claimMappings }), 201);
  await registerWallet(api, 'wallet', BACK);
  await EachFormat.prepare(other);
  const made: [path: string, body: object][] = [
    ...Object.values(FORMATS).map(({ profile, configurationOf }): [string, object] => [
      `/v2/credentials/${profile}/configurations`,
      configurationOf('Kept', claimMappings),
    ]),
    ['/v1/claim-sources', { name: 'Register', url: 'https://register.example.com' }],
    ['/v1/webhooks', { url: 'https://hooks.example.com', events: ['OpenIdCredentialIssued'] }],
    ['/v1/openid/wallets', { name: 'Wallet', clientId: 'kept', redirectUris: ['https://wallet.example/back'] }],
  ];
  for (const [path, body] of made) {
    const answer = await other.api.client.request<{ id: string }>('POST', path, { body });
    existing.set(path, { of: other, id: expectStatus(answer, 201).id });
  }
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const authorizeUrl = (more: Record<string, string>) =>
  `${tenant.url}/v1/oauth/authorize?${new URLSearchParams({
    ...{ response_type: 'code', client_id: 'wallet', redirect_uri: BACK, scope: 'jwt_vc_json:Pass', state: 'x y' },
    code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  })}`;
/** The bytes of the redirect to the wallet, after a sign-in. */
const signIn = async (more: Record<string, string>) => {
  const browser = new RedirectBrowser();
  const callback = await browser.follow(authorizeUrl(more), (url) => url.includes('/v1/oauth/authentication/callback'));
  return (await browser.openUrl(callback.href)).headers.get('location')!;
};
const OURS = () => `state=x+y&iss=${encodeURIComponent(tenant.url)}`;

describe('the redirect address of a wallet [T674]', () => {
  it('has the code and our parameters after its own bytes', async () => {
    const location = await signIn({ login_hint: 'ada' });
    const code = new URL(location).searchParams.get('code')!;
    expect(location).toBe(`${KEPT}&code=${code}&${OURS()}`);
    const token = await hostFetch(`${tenant.url}/v1/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      // Another spelling of the same address is another address.
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: 'wallet', code, code_verifier: 'x'.repeat(43) },
        redirect_uri: BACK.replace('b%20c', 'b+c'),
      }).toString(),
    });
    expect([token.status, await token.json()]).toMatchObject([400, { error: 'invalid_grant' }]);
  });

  it('has an error and our parameters after its own bytes', async () => {
    const unknown = await hostFetch(authorizeUrl({ scope: 'jwt_vc_json:None' }), { redirect: 'manual' });
    const [, own, error] = /^(.*)&(error=.*)$/.exec(unknown.headers.get('location')!)!;
    expect([unknown.status, own]).toEqual([302, KEPT]);
    expect(error).toMatch(/^error=invalid_scope&error_description=[^&]+&state=x\+y&iss=[^&]+$/);
    const cancelled = await signIn({});
    expect(cancelled.slice(0, KEPT.length + 20)).toBe(`${KEPT}&error=access_denied`.slice(0, KEPT.length + 20));
    expect(cancelled).toMatch(/&state=x\+y&iss=[^&]+$/);
  });

  it.each(['#fragment', '?a=b c', '?a=ü', '\\back', '?a=\n'])(
    'is refused on a page with what RFC 6749 §3.1.2 does not allow: %j',
    async (end) => {
      const answer = await hostFetch(authorizeUrl({ redirect_uri: `https://wallet.example/back${end}` }), {
        redirect: 'manual',
      });
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
      expect(await answer.text()).toContain('<dd>invalid_request</dd>');
    },
  );
});

const CANARY = 'canary-password-of-an-address';
const ADDRESS = `https://someone:${CANARY}@images.example.com/logo.png`;

const createAndReplace = (path: string, param: string, body: object) =>
  [
    ['POST', path, param, body],
    ['PUT', `${path}/:id`, param, body],
  ] as [string, string, string, object][];
const image = { uri: ADDRESS };
const OF_CREDENTIALS: [param: string, members: object][] = [
  ['issuer.logoUrl', { issuer: { name: 'City', logoUrl: ADDRESS } }],
  ['issuer.iconUrl', { issuer: { name: 'City', iconUrl: ADDRESS } }],
  ['credentialBranding.watermarkImageUrl', { credentialBranding: { watermarkImageUrl: ADDRESS } }],
];
const OF_DOCUMENTS: [param: string, members: object][] = [
  ['branding.watermarkImage', { branding: { watermarkImage: ADDRESS } }],
  ['branding.issuerLogo', { branding: { issuerLogo: ADDRESS } }],
  ['branding.issuerIcon', { branding: { issuerIcon: ADDRESS } }],
];
const OF_ALL: [param: string, members: object][] = [
  ['display.0.logo', { display: [{ name: 'Pass', logo: image }] }],
  ['display.0.background_image', { display: [{ name: 'Pass', background_image: image }] }],
];
const OF_PROFILE: Record<string, [param: string, members: object][]> = {
  'jwt-vc': [...OF_CREDENTIALS, ...OF_ALL],
  'web-semantic': [...OF_CREDENTIALS, ...OF_ALL, ['contexts', { contexts: [ADDRESS] }]],
  'sd-jwt': [...OF_CREDENTIALS.filter(([param]) => param.startsWith('issuer')), ...OF_ALL, ['vct', { vct: ADDRESS }]],
  'compact-semantic': [...OF_ALL, ['contexts', { contexts: [ADDRESS] }]],
  compact: OF_ALL,
  mobile: [...OF_DOCUMENTS, ...OF_ALL],
};
const oauth = { type: 'oauth-client-credentials', tokenEndpoint: ADDRESS, clientId: 'a', clientSecret: 'b' };
const ROWS = [
  ...Object.values(FORMATS).flatMap(({ profile, configurationOf }) =>
    OF_PROFILE[profile]!.flatMap(([param, members]) =>
      [
        ['POST', `/v2/credentials/${profile}/configurations`, 'Refused'] as const,
        ['PUT', `/v2/credentials/${profile}/configurations/:id`, 'Kept'] as const,
      ].map(([method, path, type]) => {
        const body = { ...configurationOf(type, { name: { mapFrom: 'claims.name' } }), ...members };
        return [method, path, param, body] as [string, string, string, object];
      }),
    ),
  ),
  ...createAndReplace('/v1/claim-sources', 'url', { name: 'Register', url: ADDRESS }),
  ...createAndReplace('/v1/claim-sources', 'authorization.tokenEndpoint', {
    ...{ name: 'Register', url: 'https://register.example.com', authorization: oauth },
  }),
  ...createAndReplace('/v1/users/authentication-providers', 'url', { url: ADDRESS, ...TENANT_CLIENT }),
  ...createAndReplace('/v1/webhooks', 'url', { url: ADDRESS, events: ['OpenIdCredentialIssued'] }),
  ...createAndReplace('/v1/openid/wallets', 'redirectUris', {
    ...{ name: 'Wallet', clientId: 'another', redirectUris: [ADDRESS] },
  }),
  ['PUT', '/v1/openid/configuration', 'interactionHook.url', { interactionHook: { url: ADDRESS } }],
  ['POST', '/v1/config/domain', 'logoUrl', { name: 'City', logoUrl: ADDRESS, domain: 'a.example' }],
  ['POST', '/v1/config/domain', 'domain', { name: 'City', logoUrl: 'https://a.example', domain: ADDRESS }],
  ['POST', '/v1/dids', 'options.url', { method: 'web', options: { url: ADDRESS } }],
] as [method: string, path: string, param: string, body: object][];

describe('an address with a password [T675]', () => {
  it.each(ROWS)('is a 400 that does not repeat it: %s %s %s', async (method, path, param, body) => {
    const { of, id } = existing.get(path.replace(/\/:id$/, '')) ?? { of: other, id: '' };
    const { api } = path.endsWith('/:id') ? of : other;
    const {
      status,
      body: refusal,
      text,
    } = await api.client.request<{ code: string; details?: { param: string }[] }>(method, path.replace(':id', id), {
      body,
    });
    expect([status, refusal]).toMatchObject([400, { code: 'BadRequest' }]);
    expect(refusal.details!.map((detail) => detail.param)).toContainEqual(expect.stringMatching(`^${param}`));
    expect(text).not.toContain(CANARY);
  });

  it('is on no page of the authorization endpoint', async () => {
    const answer = await hostFetch(authorizeUrl({ redirect_uri: ADDRESS }), { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    expect(await answer.text()).not.toContain(CANARY);
  });

  it('is in no event', async () => {
    for (const { api } of [tenant, other]) {
      const { data } = expectStatus(await api.analytics.list({ limit: 1000 }), 200);
      expect(JSON.stringify(data)).toContain('_FAIL');
      expect(JSON.stringify(data)).not.toContain(CANARY);
    }
  });
});
