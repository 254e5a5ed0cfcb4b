import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  sharedPlatform,
  TENANT_CLIENT,
  verifyJwtVc,
  waitUntil,
  Wallet,
  type ProviderAccount,
  type TenantUnderTest,
  type TokenAnswer,
} from '@attestry/testing';

const BACK = 'https://wallet.example/back';
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let degree: string;
/** A configuration of the other tenant with the same scope. */
let theirs: string;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  const newTenant = async (name: string) => {
    const made = await createTenantUnderTest(platform, management, name);
    const providers = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters: ['login_hint'] };
    expectStatus(await made.api.authenticationProviders.create(providers), 201);
    const { did } = expectStatus(await made.api.dids.create({ method: 'key', options: { keyType: 'Ed25519' } }), 201);
    const claimMappings = { given_name: { mapFrom: 'claims.given_name' }, degree: { mapFrom: 'claims.degree' } };
    const request = { type: 'Degree', name: 'Degree', issuer: { name: 'College' }, issuerDid: did, claimMappings };
    return [made, expectStatus(await made.api.jwtVc.create(request), 201).id] as const;
  };
  [tenant, degree] = await newTenant('claim-sets');
  [other, theirs] = await newTenant('claim-sets-other');
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const LEA: ProviderAccount = { sub: 'lea', given_name: 'Lea' };
const TOM: ProviderAccount = { sub: 'tom', given_name: 'Tom' };
const credentials = () => [
  {
    credentialConfigurationId: degree,
    claimSets: [
      { identifier: 'bachelor', claims: { degree: 'Bachelor' } },
      { identifier: 'master', claims: { degree: 'Master' } },
    ],
  },
];

type Resolved = Awaited<ReturnType<typeof resolve>>;
const resolve = async (uri: string, clientId?: string) => {
  const wallet = new Wallet(clientId);
  const offer = await wallet.resolveOffer(uri);
  return { wallet, offer, metadata: await wallet.metadata(offer.credential_issuer) };
};
/** The subjects of the credentials that the identifiers of a token response name. */
const collect = async ({ wallet, metadata }: Resolved, token: TokenAnswer) => {
  const [details, ...more] = token.authorization_details!;
  expect([details!.credential_configuration_id, more]).toEqual([degree, []]);
  const subjects: Record<string, unknown>[] = [];
  for (const identifier of details!.credential_identifiers) {
    const key = await makeHolderKey();
    const jwt = await wallet.credentialByIdentifier(metadata, token.access_token, degree, identifier, key);
    const { vc } = (await verifyJwtVc(jwt as string)).payload;
    const { id: _, ...subject } = vc!['credentialSubject'] as Record<string, unknown>;
    subjects.push(subject);
  }
  return subjects;
};
const signIn = ({ wallet, offer, metadata }: Resolved, account: ProviderAccount): Promise<TokenAnswer> => {
  provider.accounts.set(account.sub, account);
  return wallet.authorizedToken(offer, metadata, {
    browser: new RedirectBrowser(),
    redirectUri: BACK,
    scope: 'jwt_vc_json:Degree',
    parameters: { login_hint: account.sub },
  });
};

describe('a third-party wallet', () => {
  it('collects the credentials of a pre-authorized offer by their identifiers [T271, T272]', async () => {
    const made = expectStatus(
      await tenant.api.offers.create({ credentials: credentials(), claims: { given_name: 'Ada', degree: 'None' } }),
      200,
    );
    const resolved = await resolve(made.uri);
    const { accessTokenResponse } = await resolved.wallet.client.retrievePreAuthorizedCodeAccessTokenFromOffer({
      credentialOffer: resolved.offer,
      issuerMetadata: resolved.metadata,
    });
    expect(await collect(resolved, accessTokenResponse as TokenAnswer)).toEqual([
      { given_name: 'Ada', degree: 'Bachelor' },
      { given_name: 'Ada', degree: 'Master' },
    ]);
  });

  it('that knows no identifiers collects the one there is by its configuration, and learns of several [T740]', async () => {
    const [entry] = credentials();
    const tokenOf = async (claimSets: NonNullable<typeof entry>['claimSets']) => {
      const offer = { credentials: [{ credentialConfigurationId: degree, claimSets }], claims: { given_name: 'Ada' } };
      const resolved = await resolve(expectStatus(await tenant.api.offers.create(offer), 200).uri);
      const { accessTokenResponse } = await resolved.wallet.client.retrievePreAuthorizedCodeAccessTokenFromOffer({
        credentialOffer: resolved.offer,
        issuerMetadata: resolved.metadata,
      });
      return { ...resolved, token: accessTokenResponse.access_token };
    };
    const { claimSets } = entry!;
    const request = async ({ wallet, metadata, token }: Awaited<ReturnType<typeof tokenOf>>) => {
      const nonce = await wallet.nonce(metadata);
      const proof = await wallet.proof(metadata, degree, await makeHolderKey(), nonce);
      return new ApiClient(tenant.url, token).request<Record<string, unknown>>('POST', '/v1/openid/credential', {
        body: { credential_configuration_id: degree, proofs: { jwt: [proof] } },
      });
    };
    const { credentials: got } = expectStatus(await request(await tokenOf(claimSets.slice(1))), 200) as {
      credentials: { credential: string }[];
    };
    const { vc } = (await verifyJwtVc(got[0]!.credential)).payload;
    expect(vc!['credentialSubject']).toMatchObject({ given_name: 'Ada', degree: 'Master' });
    const refused = await request(await tokenOf(claimSets));
    expect([refused.status, refused.body]).toEqual([
      400,
      {
        error: 'invalid_credential_request',
        error_description:
          'credential_identifier is required, because the token response returned several: bachelor, master',
      },
    ]);
  });

  it('may not choose the credentials of such an offer, and can redeem it afterwards [T80]', async () => {
    const { uri } = expectStatus(await tenant.api.offers.create({ credentials: credentials() }), 200);
    const { offer } = await resolve(uri);
    const form = {
      grant_type: PRE_AUTHORIZED,
      'pre-authorized_code': offer.grants![PRE_AUTHORIZED]!['pre-authorized_code'],
    };
    const details = [{ type: 'openid_credential', credential_configuration_id: degree }];
    const send = (body: Record<string, string>) =>
      new ApiClient(tenant.url).request<Record<string, unknown>>('POST', '/v1/oauth/token', {
        body: new URLSearchParams(body),
      });
    const refused = await send({ ...form, authorization_details: JSON.stringify(details) });
    expect([refused.status, refused.body['error']]).toEqual([400, 'invalid_authorization_details']);
    expect((await send(form)).status).toBe(200);
  });

  it('collects those of an offer of the authorization code flow, for each person who signs in [T274, T275]', async () => {
    const made = expectStatus(await tenant.api.offers.createOpen({ credentials: credentials() }), 200);
    expect(decodeURIComponent(made.uri)).not.toContain('Master');
    const resolved = await resolve(made.uri, 'wallet.example');
    for (const account of [LEA, TOM])
      expect(await collect(resolved, await signIn(resolved, account))).toEqual([
        { given_name: account.given_name, degree: 'Bachelor' },
        { given_name: account.given_name, degree: 'Master' },
      ]);
  });

  it('gets nothing once the offer is deleted, except with a token that it has [T276, T278]', async () => {
    const made = expectStatus(await tenant.api.offers.createOpen({ credentials: credentials() }), 200);
    const resolved = await resolve(made.uri, 'wallet.example');
    const token = await signIn(resolved, LEA);
    expect((await other.api.offers.deleteOpen(made.id!)).status).toBe(404);
    expect((await tenant.api.offers.deleteOpen(made.id!)).status).toBe(204);
    expect((await tenant.api.offers.deleteOpen(made.id!)).status).toBe(404);
    expect(await collect(resolved, token)).toHaveLength(2);
    await expect(signIn(resolved, LEA)).rejects.toThrow('invalid_request');
  });

  it('gets nothing at another tenant [T276]', async () => {
    const made = expectStatus(await tenant.api.offers.createOpen({ credentials: credentials() }), 200);
    const { offer } = await resolve(made.uri, 'wallet.example');
    const moved = { ...offer, credential_issuer: other.url, credential_configuration_ids: [theirs] };
    const wallet = new Wallet('wallet.example');
    const metadata = await wallet.metadata(other.url);
    await expect(signIn({ wallet, offer: moved, metadata }, LEA)).rejects.toThrow('invalid_request');
  });

  it('gets an offer for one person for this person only [T277]', async () => {
    const plain = expectStatus(await tenant.api.offers.createOpen({ credentials: [degree] }), 200);
    expect(Object.keys(plain)).toEqual(['uri', 'uriByReference', 'qrUrl']);
    await signIn(await resolve(plain.uri, 'wallet.example'), LEA);
    const lea = await waitUntil(async () =>
      expectStatus(await tenant.api.users.list(), 200).data.find(
        ({ authenticationProvider }) => authenticationProvider?.subjectId === LEA.sub,
      ),
    );
    const made = expectStatus(await tenant.api.offers.createOpen({ credentials: credentials(), userId: lea.id }), 200);
    const resolved = await resolve(made.uri, 'wallet.example');
    await expect(signIn(resolved, TOM)).rejects.toThrow('access_denied');
    expect(await collect(resolved, await signIn(resolved, LEA))).toHaveLength(2);
  });
});

describe('an offer with claim sets', () => {
  it.each<[string, object, string]>([
    ['credentials.0.claimSets', { claimSets: [] }, 'must be an array of at least one claim set'],
    ['credentials.0.claimSets.0.claims', { claimSets: [{ identifier: 'x' }] }, 'must be an object'],
    [
      'credentials.0.claimSets.0.identifier',
      { claimSets: [{ identifier: 'x'.repeat(129), claims: {} }] },
      'must be a string of 1 to 128 characters without control characters',
    ],
  ])('names %s as the fault of %j [T270]', async (param, members, msg) => {
    const body = { credentials: [{ credentialConfigurationId: degree, ...members }] } as never;
    for (const answer of [await tenant.api.offers.create(body), await tenant.api.offers.createOpen(body)])
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.objectContaining({ details: [{ msg, param, location: 'body' }] }),
      ]);
  });

  it('expires within a year, for a user of the tenant [T274]', async () => {
    const expiresAt = new Date(Date.now() + 366 * 86_400_000).toISOString();
    const late = await tenant.api.offers.createOpen({ credentials: credentials(), expiresAt });
    expect([late.status, late.body]).toEqual([
      400,
      expect.objectContaining({
        details: [
          {
            value: expiresAt,
            msg: 'must be in the future and at most 365 days from now',
            param: 'expiresAt',
            location: 'body',
          },
        ],
      }),
    ]);
    const unknown = await tenant.api.offers.createOpen({ credentials: credentials(), userId: degree });
    expect([unknown.status, unknown.body]).toEqual([
      400,
      expect.objectContaining({
        details: [{ value: degree, msg: 'must be a user of this tenant', param: 'userId', location: 'body' }],
      }),
    ]);
  });
});
