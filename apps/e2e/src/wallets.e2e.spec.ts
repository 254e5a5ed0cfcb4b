import { createHash, randomBytes } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  connectWithRoles,
  createTenantUnderTest,
  CustomerIaca,
  expectStatus,
  hostFetch,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  sharedPlatform,
  TENANT_CLIENT,
  type Answer,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

const BACK = 'https://wallet.example/back';
const LOOPBACK = 'http://127.0.0.1/back';

let platform: PlatformAddresses;
let management: ManagementApi;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let root: string;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'wallets');
  root = (await CustomerIaca.create()).certificatePem;
  expectStatus(
    await tenant.api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  expectStatus(
    await tenant.api.jwtVc.create({ type: 'Pass', name: 'Pass', issuer: { name: 'City' }, claimMappings: {} }),
    201,
  );
  provider.accounts.set('ada', { sub: 'ada' });
}, PLATFORM_START_MS);
afterAll(() => provider?.stop());

const detailOf = ({ status, body }: Answer<unknown>) => {
  const [detail] = (body as { details: { param: string; msg: string }[] }).details;
  return [status, detail?.param, detail?.msg];
};
const verifier = randomBytes(32).toString('base64url');
const authorizeUrl = (clientId: string, redirectUri: string, more: Record<string, string> = {}) =>
  `${tenant.url}/v1/oauth/authorize?${new URLSearchParams({
    ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: 'jwt_vc_json:Pass' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: 'ada', ...more },
  })}`;
/** Status, and the host of the redirect or the error and description of the page. */
const authorize = async (...request: Parameters<typeof authorizeUrl>) => {
  const answer = await hostFetch(authorizeUrl(...request), { redirect: 'manual' });
  const location = answer.headers.get('location');
  const facts = [...(await answer.text()).matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text);
  return {
    status: answer.status,
    location: location === null ? undefined : new URL(location),
    page: facts.slice(0, 2),
  };
};

describe('the wallets of a tenant', () => {
  const request = (clientId: string) => ({ name: 'City wallet', clientId, redirectUris: [BACK] });

  it('are created, listed, changed and deleted [T210]', async () => {
    const { api } = tenant;
    const made = expectStatus(await api.wallets.create(request('crud')), 201);
    const expected = { ...request('crud'), attestationRequired: false, dpopRequired: false, disabled: false };
    expect(made).toEqual({ id: expect.any(String), ...expected });
    const { id } = made;
    expect(expectStatus(await api.wallets.retrieve(id), 200)).toEqual(made);
    expect(expectStatus(await api.wallets.list({ limit: 1000 }), 200).data).toContainEqual(made);
    // A wallet that was read can be sent back; read-only members are ignored.
    const changed = { ...made, name: 'Town wallet', dpopRequired: true, disabled: true, attestationRequired: true };
    expect(expectStatus(await api.wallets.update(id, changed), 200)).toEqual({
      ...changed,
      attestationRequired: false,
    });
    expect(expectStatus(await api.wallets.update(id, request('crud')), 200)).toEqual(made);
    expectStatus(await api.wallets.delete(id), 204);
    for (const answer of [
      await api.wallets.retrieve(id),
      await api.wallets.update(id, request('crud')),
      await api.wallets.delete(id),
    ])
      expect(answer.status).toBe(404);
  });

  it.each([
    [{ clientId: '' }, 'clientId', 'must be at most 1024 printable ASCII characters (RFC 6749 A.1)'],
    [{ redirectUris: [] }, 'redirectUris', 'must not be empty'],
    [{ redirectUris: undefined }, 'redirectUris', 'is required for a wallet without rootCertificates'],
    [{ redirectUris: [BACK, BACK] }, 'redirectUris', 'must not repeat an entry'],
    [
      { redirectUris: [BACK, 'http://wallet.example/'] },
      'redirectUris.1',
      'must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment',
    ],
    [
      { redirectUris: Array.from({ length: 21 }, (_, n) => `${BACK}/${n}`) },
      'redirectUris',
      'must have at most 20 entries',
    ],
    [{ rootCertificates: [] }, 'rootCertificates', 'must not be empty'],
    [{ rootCertificates: Array.from({ length: 11 }, String) }, 'rootCertificates', 'must have at most 10 entries'],
    [{ rootCertificates: ['x'.repeat(4097)] }, 'rootCertificates.0', 'must have at most 4096 characters'],
    [
      { rootCertificates: ['x'] },
      'rootCertificates.0',
      'must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----',
    ],
    [{ disabled: 'no' }, 'disabled', 'must be a boolean'],
    [{ secret: 'x' }, 'secret', expect.stringMatching(/./)],
  ])('are refused with %j [T210, T211]', async (more, param, msg) => {
    const body = { ...request('refused'), ...more } as never;
    expect(detailOf(await tenant.api.wallets.create(body))).toEqual([400, param, msg]);
  });

  it('have client ids of their own, also when they are registered at once [T210, T218]', async () => {
    const answers = await Promise.all([1, 2, 3].map(() => tenant.api.wallets.create(request('once'))));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400, 400]);
    expect(detailOf(answers.find(({ status }) => status === 400)!)).toEqual([
      ...[400, 'clientId', 'must be unique: another wallet of the tenant has it'],
    ]);
    const other = await createTenantUnderTest(platform, management, 'other-wallets');
    const { id } = await registerWallet(other.api, 'once', BACK);
    expect((await tenant.api.wallets.retrieve(id)).status).toBe(404);
    expect((await tenant.api.wallets.delete(id)).status).toBe(404);
    expect(expectStatus(await other.api.wallets.list(), 200).data.map(({ clientId }) => clientId)).toEqual(['once']);
  });

  it('that attest themselves are found under a second path, the others are not [T211]', async () => {
    const { wallets, attestedWallets } = tenant.api;
    const plain = await registerWallet(tenant.api, 'plain', BACK);
    const body = { name: 'State wallet', clientId: 'state', rootCertificates: [root] };
    const attested = expectStatus(await attestedWallets.create(body), 201);
    const facts = { attestationRequired: true, dpopRequired: false, disabled: false };
    expect(attested).toEqual({ id: expect.any(String), ...body, ...facts });
    expect(expectStatus(await attestedWallets.list(), 200).data).toEqual([attested]);
    expect(expectStatus(await wallets.retrieve(attested.id), 200)).toEqual(attested);
    const update = { ...body, clientId: 'plain-2' };
    for (const answer of [
      await attestedWallets.retrieve(plain.id),
      await attestedWallets.update(plain.id, update),
      await attestedWallets.delete(plain.id),
    ])
      expect(answer.status).toBe(404);
    const { rootCertificates: _, ...without } = body;
    expect(detailOf(await attestedWallets.create({ ...without, redirectUris: [BACK] } as never))).toEqual([
      ...[400, 'rootCertificates', 'is required'],
    ]);
    expect(expectStatus(await attestedWallets.update(attested.id, { ...body, dpopRequired: true }), 200)).toEqual({
      ...attested,
      dpopRequired: true,
    });
    expectStatus(await attestedWallets.delete(attested.id), 204);
  });

  it('and the settings are changed by admin and issuer, and read by managed issuers too [T219]', async () => {
    const { id } = await registerWallet(tenant.api, 'roles', BACK);
    for (const [role, write, read] of [
      ['issuer', true, true],
      ['managed-issuer', false, true],
      ['verifier', false, false],
      ['certificate-manager', false, false],
    ] as const) {
      const { wallets, openIdConfiguration } = await connectWithRoles(platform, management, tenant, [role]);
      const statuses = [
        (await wallets.list()).status,
        (await wallets.retrieve(id)).status,
        (await openIdConfiguration.retrieve()).status,
        (await wallets.update(id, { ...request('roles') })).status,
        (await openIdConfiguration.update({ dpopNonceRequired: false })).status,
      ];
      expect([role, ...statuses]).toEqual([
        role,
        ...Array(3).fill(read ? 200 : 403),
        ...Array(2).fill(write ? 200 : 403),
      ]);
    }
  });
});

describe('the authorization code flow of a registered wallet', () => {
  it('returns code and errors to its address without a page, on any port of the loopback host [T212]', async () => {
    await registerWallet(tenant.api, 'native', LOOPBACK);
    const back = 'http://127.0.0.1:54321/back';
    const browser = new RedirectBrowser();
    const { searchParams } = await browser.follow(authorizeUrl('native', back), (url) => url.startsWith(back));
    const form = {
      ...{ grant_type: 'authorization_code', client_id: 'native', redirect_uri: back, code_verifier: verifier },
      code: searchParams.get('code')!,
    };
    const answer = await new ApiClient(tenant.url).request('POST', '/v1/oauth/token', {
      body: new URLSearchParams(form),
    });
    expect(answer.status).toBe(200);
    const refused = await authorize('native', back, { scope: 'none' });
    expect([refused.status, refused.location?.host, refused.location?.searchParams.get('error')]).toEqual([
      ...[302, '127.0.0.1:54321', 'invalid_scope'],
    ]);
    expect(await authorize('native', 'http://127.0.0.1/other')).toEqual({
      ...{ status: 400, location: undefined },
      page: ['invalid_request', 'redirect_uri must be one of the redirect URIs that are registered for the wallet'],
    });
  });

  it('ends when it is disabled, also in the middle of a sign-in [T213]', async () => {
    const wallet = await registerWallet(tenant.api, 'disabled', BACK);
    const browser = new RedirectBrowser();
    const atCallback = (url: string) => url.startsWith(`${tenant.url}/v1/oauth/authentication/callback`);
    const callback = await browser.follow(authorizeUrl('disabled', BACK), atCallback);
    expectStatus(await tenant.api.wallets.update(wallet.id, { ...wallet, disabled: true }), 200);
    const page = ['unauthorized_client', 'this issuer has disabled the wallet'];
    const refused = await browser.openUrl(callback.href);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
    expect(await refused.text()).toContain(`<dd>${page[0]}</dd>`);
    expect(await authorize('disabled', BACK)).toEqual({ status: 400, location: undefined, page });
  });

  it('is refused at the token endpoint without an attestation if it must attest itself [T343]', async () => {
    await tenant.api.attestedWallets.create({
      name: 'A',
      clientId: 'attested',
      redirectUris: [BACK],
      rootCertificates: [root],
    });
    // The code is of no use without an attestation.
    expect((await authorize('attested', BACK)).location?.origin).toBe(new URL(provider.issuer).origin);
    const { id } = expectStatus(await tenant.api.jwtVc.list(), 200).data[0]!;
    const { uri } = expectStatus(await tenant.api.offers.create({ credentials: [id] }), 200);
    const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
      grants: Record<string, { 'pre-authorized_code': string }>;
    };
    const [[grant_type, grant]] = Object.entries(offer.grants) as [[string, { 'pre-authorized_code': string }]];
    const exchange = (more: object) =>
      new ApiClient(tenant.url).request<{ error?: string }>('POST', '/v1/oauth/token', {
        body: new URLSearchParams({ grant_type, 'pre-authorized_code': grant['pre-authorized_code'], ...more }),
      });
    const refused = await exchange({ client_id: 'attested' });
    expect([refused.status, refused.body.error]).toEqual([401, 'invalid_client']);
    // The code is not spent.
    expect((await exchange({})).status).toBe(200);
  });
});

describe('a wallet that is not registered', () => {
  it('uses https addresses while the tenant allows it [T214, T217]', async () => {
    const { openIdConfiguration } = tenant.api;
    const before = expectStatus(await openIdConfiguration.retrieve(), 200);
    expect(before).toMatchObject({ allowUnregisteredWallets: true });
    expect(await authorize('x', LOOPBACK)).toEqual({
      ...{ status: 400, location: undefined },
      page: [
        'invalid_request',
        'redirect_uri must be an https URL, because the wallet is not registered with this issuer',
      ],
    });
    expect((await authorize('x', BACK)).status).toBe(200);
    const off = { allowUnregisteredWallets: false };
    expect(expectStatus(await openIdConfiguration.update(off), 200)).toEqual({ ...before, ...off });
    expect(expectStatus(await openIdConfiguration.update({}), 200)).toEqual({ ...before, ...off });
    expect(await authorize('x', BACK)).toEqual({
      ...{ status: 400, location: undefined },
      page: ['unauthorized_client', 'client_id must be the one of a wallet that is registered with this issuer'],
    });
    expect(expectStatus(await openIdConfiguration.update({ allowUnregisteredWallets: null }), 200)).toEqual(before);
    expect(detailOf(await openIdConfiguration.update({ allowUnregisteredWallets: 'no' } as never))).toEqual([
      ...[400, 'allowUnregisteredWallets', 'must be a boolean, or null for the default'],
    ]);
    expect(detailOf(await openIdConfiguration.update({ profile: 'haip' } as never)).slice(0, 2)).toEqual([
      400,
      'profile',
    ]);
  });
});
