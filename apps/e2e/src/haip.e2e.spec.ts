import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  platformMode,
  ProtocolWallet,
  RedirectBrowser,
  sharedPlatform,
  TENANT_CLIENT,
  Wallet,
  WalletProvider,
  type PlatformAddresses,
  type TenantUnderTest,
} from '@attestry/testing';

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const PUBLIC = { name: 'Public', clientId: 'https://public.example', redirectUris: ['https://public.example/back'] };
const ATTESTED = 'https://attested.example';
const SCOPE = 'dc+sd-jwt:Pass';
const EARLIER = 'the access token was issued before this issuer required HAIP 1.0';

let platform: PlatformAddresses;
let provider: OpenIdProvider;
let attester: WalletProvider;
let tenant: TenantUnderTest;
let wallet: ProtocolWallet;
let attestedId: string;
let sdJwt: string;
let jwtVc: string;
let did: string;

const pass = {
  type: 'Pass',
  name: 'Pass',
  issuer: { name: 'City' },
  claimMappings: { level: { defaultValue: 'gold' } },
};
const change = async (body: Parameters<typeof tenant.api.openIdConfiguration.update>[0], at = tenant) => {
  const answer = await at.api.openIdConfiguration.update(body);
  const { details } = answer.body as unknown as { details?: { param: string; msg: string }[] };
  return [answer.status, ...(details ?? []).map(({ param, msg }) => `${param} ${msg}`)];
};
const read = async (path: string) =>
  (await new ApiClient(tenant.url).request<Record<string, unknown>>('GET', path)).body;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
  attester = await WalletProvider.create();
  platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'haip-city');
  wallet = await ProtocolWallet.create(tenant.url, ATTESTED, attester);
  const forwardedRequestParameters = ['login_hint'];
  const body = { url: provider.issuer, ...TENANT_CLIENT, forwardedRequestParameters };
  expectStatus(await tenant.api.authenticationProviders.create(body), 201);
}, PLATFORM_START_MS);
afterAll(() => provider?.stop());

describe('before the profile haip', () => {
  it('a change to it lists everything that contradicts it [T456]', async () => {
    expect(await change({ allowUnregisteredWallets: true, requirePushedAuthorizationRequests: false })).toEqual([200]);
    const contradictions = [
      'profile requires a credential configuration of one of the formats dc+sd-jwt, mso_mdoc',
      'profile requires a wallet with rootCertificates that is not disabled',
      'allowUnregisteredWallets must be false while profile is haip',
      'requirePushedAuthorizationRequests must be true while profile is haip',
    ];
    expect(await change({ profile: 'haip' })).toEqual([400, ...contradictions]);
    did = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201).did;
    jwtVc = expectStatus(await tenant.api.jwtVc.create({ ...pass, issuerDid: did }), 201).id;
    expectStatus(await tenant.api.wallets.create(PUBLIC), 201);
    expect(await change({ profile: 'haip' })).toEqual([400, ...contradictions]);
    sdJwt = expectStatus(await tenant.api.sdJwt.create(pass), 201).id;
    expect(await change({ profile: 'haip' })).toEqual([400, ...contradictions.slice(1)]);
    const rootCertificates = [attester.rootCertificate];
    const request = { name: 'Attested', clientId: ATTESTED, rootCertificates, redirectUris: [`${ATTESTED}/back`] };
    attestedId = expectStatus(await tenant.api.attestedWallets.create({ ...request, disabled: true }), 201).id;
    expect(await change({ profile: 'haip' })).toEqual([400, ...contradictions.slice(1)]);
    expectStatus(await tenant.api.attestedWallets.update(attestedId, request), 200);
    expect(await change({ profile: 'haip' })).toEqual([400, ...contradictions.slice(2)]);
    expect(await change({ allowUnregisteredWallets: null, requirePushedAuthorizationRequests: null })).toEqual([200]);
    expect(await change({ profile: 'other' as never })).toEqual([
      ...[400, 'profile must be one of: default, haip; or null for the default'],
    ]);
    expect(expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200).profile).toBe('default');
  });
});

/** Other processes see it within a second. */
const switchTo = async (profile: 'haip' | null) => {
  expect(await change({ profile })).toEqual([200]);
  if (platformMode() === 'cluster') await pause(1100);
};
const switchOn = () => switchTo('haip');
const switchOff = () => switchTo(null);
const fault = ({ status, body }: { status: number; body: unknown }) => {
  const { error, error_description: description } = body as Record<string, string>;
  return [status, error, description];
};
const offerCode = async (id = sdJwt) => {
  const { uri } = expectStatus(await tenant.api.offers.create({ credentials: [id] }), 200);
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  return offer.grants[PRE_AUTHORIZED]!['pre-authorized_code'];
};
const redeem = (code: string) =>
  wallet.exchange('', { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code, code: undefined });
const collect = async (token: string, headers: Record<string, string | null> = {}) => {
  const proofs = { jwt: [await wallet.keyProof(await makeHolderKey())] };
  return wallet.requestCredential(token, { credential_configuration_id: sdJwt, proofs }, headers);
};

describe('while the profile is haip', () => {
  beforeEach(switchOn);
  afterEach(switchOff);

  it('its settings are in effect, and not of another tenant; null resets it [T455]', async () => {
    const { api } = tenant;
    const expected = { profile: 'haip', allowUnregisteredWallets: false, requirePushedAuthorizationRequests: true };
    expect(expectStatus(await api.openIdConfiguration.retrieve(), 200)).toMatchObject(expected);
    expect(expectStatus(await api.openIdConfiguration.update({ dpopNonceRequired: null }), 200)).toMatchObject(
      expected,
    );
    const other = await createTenantUnderTest(platform, await connectManagement(platform), 'haip-not');
    expect(expectStatus(await other.api.openIdConfiguration.retrieve(), 200).profile).toBe('default');
    expect(expectStatus(await api.openIdConfiguration.update({ profile: null }), 200)).toMatchObject({
      profile: 'default',
      requirePushedAuthorizationRequests: false,
    });
  });

  it('settings that contradict it are refused [T457]', async () => {
    expect(await change({ allowUnregisteredWallets: true, requirePushedAuthorizationRequests: false })).toEqual([
      400,
      'allowUnregisteredWallets must be false while profile is haip',
      'requirePushedAuthorizationRequests must be true while profile is haip',
    ]);
  });

  it('the metadata say so [T462]', async () => {
    const [server, issuer] = [
      await read('/.well-known/oauth-authorization-server'),
      await read('/.well-known/openid-credential-issuer'),
    ];
    expect(server).toMatchObject({
      require_pushed_authorization_requests: true,
      token_endpoint_auth_methods_supported: ['attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      'pre-authorized_grant_anonymous_access_supported': false,
    });
    expect(server).not.toHaveProperty('authorization_details_types_supported');
    expect(server['grant_types_supported']).not.toContain(PRE_AUTHORIZED);
    expect(issuer).not.toHaveProperty('grant_types_supported');
    await switchOff();
    for (const path of ['/.well-known/oauth-authorization-server', '/.well-known/openid-credential-issuer'])
      expect((await read(path))['grant_types_supported']).toContain(PRE_AUTHORIZED);
    expect(await read('/.well-known/oauth-authorization-server')).toMatchObject({
      token_endpoint_auth_methods_supported: ['none', 'attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      'pre-authorized_grant_anonymous_access_supported': true,
      authorization_details_types_supported: ['openid_credential'],
    });
  });

  it('metadata and offers have no members for wallets of earlier drafts [T714]', async () => {
    const supportedOf = (metadata: Record<string, unknown>) =>
      (metadata['credential_configurations_supported'] as Record<string, Record<string, unknown>>)[sdJwt]!;
    const issuer = await read('/.well-known/openid-credential-issuer');
    expect(Object.keys(issuer).sort()).toEqual([
      ...['authorization_servers', 'batch_credential_issuance', 'credential_configurations_supported'],
      ...['credential_endpoint', 'credential_issuer', 'credential_request_encryption'],
      ...[
        'credential_response_encryption',
        'deferred_credential_endpoint',
        'display',
        'mdoc_iacas_uri',
        'nonce_endpoint',
        'notification_endpoint',
      ],
    ]);
    expect(Object.keys(supportedOf(issuer)).sort()).toEqual([
      ...['credential_metadata', 'credential_signing_alg_values_supported'],
      ...['cryptographic_binding_methods_supported', 'format', 'proof_types_supported', 'scope', 'vct'],
    ]);

    /** Members of the document in the offer's address, and in that by reference. */
    const membersOf = async ({ uri, uriByReference }: { uri: string; uriByReference: string }) => {
      const content = new URL(new URL(uriByReference).searchParams.get('credential_offer_uri')!).pathname;
      const document = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as object;
      return [document, await read(content)].map((of) => Object.keys(of).sort());
    };
    type Addresses = Parameters<typeof membersOf>[0];
    const claimSets = [{ identifier: 'a', claims: {} }];
    const offers = await Promise.all(
      [[sdJwt], [{ credentialConfigurationId: sdJwt, claimSets }]].map(
        async (credentials) =>
          expectStatus(await tenant.api.offers.createOpen({ credentials } as never), 200) as Addresses,
      ),
    );
    const ofHaip = ['credential_configuration_ids', 'credential_issuer', 'grants'];
    for (const offer of offers) expect(await membersOf(offer)).toEqual([ofHaip, ofHaip]);
    await switchOff();
    const preAuthorized = expectStatus(await tenant.api.offers.create({ credentials: [sdJwt] }), 200) as Addresses;
    const ofDrafts = [...ofHaip, 'credentials'].sort();
    // Offers by reference follow the profile.
    for (const offer of offers) expect(await membersOf(offer)).toEqual([ofHaip, ofDrafts]);
    expect(await membersOf(preAuthorized)).toEqual([ofDrafts, ofDrafts]);
    const ofDefault = await read('/.well-known/openid-credential-issuer');
    expect(ofDefault).toMatchObject({ issuer: tenant.url, credentials_supported: expect.any(Array) as unknown });
    expect(supportedOf(ofDefault)).toHaveProperty('id', sdJwt);
    await switchOn();
    expect(await membersOf(preAuthorized)).toEqual([ofDrafts, ofHaip]);
  });

  it('a wallet obtains credentials of every format through PAR, attestation and DPoP [T458] [T461]', async () => {
    const { api } = tenant;
    const { claimMappings } = pass;
    const semantic = { ...pass, type: 'Badge', issuerDid: did, contexts: [] };
    const mobile = { type: 'org.example.pass', claimMappings: { 'org.example.pass': claimMappings } };
    const iaca = expectStatus(await api.iacas.create({ country: 'AU' }), 201);
    expectStatus(await api.iacas.update(iaca.id, true), 200);
    const ids = [
      ...[sdJwt, jwtVc],
      expectStatus(await api.webSemantic.create(semantic), 201).id,
      expectStatus(await api.compact.create({ type: 'Pass', claimMappings } as never), 201).id,
      expectStatus(await api.compactSemantic.create({ type: 'Badge', claimMappings } as never), 201).id,
      expectStatus(await api.mobile.create({ ...mobile, expiresIn: { days: 1 } } as never), 201).id,
    ];
    const { credential_configurations_supported: supported } = (await read(
      '/.well-known/openid-credential-issuer',
    )) as { credential_configurations_supported: Record<string, { scope: string; format: string }> };
    expect(ids.map((id) => supported[id]!.format)).toEqual([
      ...['dc+sd-jwt', 'jwt_vc_json', 'ldp_vc', 'cwt', 'cwt_vc', 'mso_mdoc'],
    ]);
    const token = await wallet.obtainToken(ids.map((id) => supported[id]!.scope).join(' '));
    for (const id of ids) expect(await wallet.credentials(token, id, await makeHolderKey())).toHaveLength(1);
  });

  it('a third-party wallet does so too, from an offer [T458]', async () => {
    const instance = await makeHolderKey();
    const jwt = await attester.attest(ATTESTED, instance.publicJwk);
    const third = new Wallet(ATTESTED, undefined, await makeHolderKey(), { jwt, key: instance });
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [sdJwt] }), 200);
    const offer = await third.resolveOffer(uri);
    const metadata = await third.metadata(offer.credential_issuer);
    const options = { browser: new RedirectBrowser(), redirectUri: `${ATTESTED}/back`, scope: SCOPE };
    const token = await third.authorizedToken(offer, metadata, { ...options, parameters: { login_hint: 'zoe' } });
    expect(token.token_type).toBe('DPoP');
    expect(await third.credentials(metadata, token.access_token, sdJwt, [await makeHolderKey()])).toHaveLength(1);
  });

  it('requests that are not pushed, and wallets that do not attest themselves, are refused [T458]', async () => {
    const back = await new RedirectBrowser().follow(wallet.authorizationUrl(wallet.parameters(SCOPE)), (at) =>
      at.startsWith(ATTESTED),
    );
    expect(back.searchParams.get('error')).toBe('invalid_request');
    for (const [client_id, description] of [
      [PUBLIC.clientId, 'client_id must be the one of a wallet that attests itself (HAIP 1.0)'],
      ['https://unknown.example', 'client_id must be the one of a wallet that is registered with this issuer'],
    ] as const) {
      const parameters = wallet.parameters(SCOPE, { client_id, redirect_uri: `${client_id}/back` });
      expect(fault(await wallet.push(parameters))).toEqual([400, 'unauthorized_client', description]);
      const page = await hostFetch(wallet.authorizationUrl(parameters), { redirect: 'manual' });
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
    }
    const refused = [401, 'invalid_client', 'the header OAuth-Client-Attestation is required of this client'];
    expect(fault(await wallet.push(wallet.parameters(SCOPE), { attestation: null }))).toEqual(refused);
    const code = await wallet.obtainCode(SCOPE);
    expect(fault(await wallet.exchange(code, {}, { attestation: null }))).toEqual(refused);
    expect((await wallet.exchange(code)).status).toBe(200);
  });

  it('tokens are bound to a DPoP key in both modes of attestation [T459]', async () => {
    const code = await wallet.obtainCode(SCOPE, {}, { dpop: null });
    expect(fault(await wallet.exchange(code, {}, { dpop: null }))).toEqual([
      ...[400, 'invalid_dpop_proof', 'a DPoP proof is required of every client (HAIP 1.0)'],
    ]);
    expect((await wallet.exchange(code)).body.token_type).toBe('DPoP');
    const before = expectStatus(await tenant.api.wallets.retrieve(attestedId), 200);
    const { id: _, attestationRequired: __, ...request } = before;
    expectStatus(await tenant.api.wallets.update(attestedId, { ...request, dpopRequired: true }), 200);
    const [par, token] = ['/v1/oauth/par', '/v1/oauth/token'];
    const combined = async (path: string) => ({ pop: null, dpop: await wallet.dpop(path, { by: wallet.instanceKey }) });
    const again = await wallet.obtainCode(SCOPE, {}, await combined(par));
    expect(fault(await wallet.exchange(again, {}, { pop: null, dpop: null })).slice(0, 2)).toEqual([
      ...[400, 'invalid_dpop_proof'],
    ]);
    expect((await wallet.exchange(again, {}, await combined(token))).body.token_type).toBe('DPoP');
    expectStatus(await tenant.api.wallets.update(attestedId, request), 200);
  });

  it('scope selects the credentials: authorization_details are refused [T460]', async () => {
    const detail = { type: 'openid_credential', credential_configuration_id: sdJwt };
    const authorization_details = JSON.stringify([detail]);
    const refused = [
      400,
      'invalid_authorization_details',
      'authorization_details must not be sent: this issuer requires scope (HAIP 1.0)',
    ];
    expect(fault(await wallet.push(wallet.parameters(SCOPE, { authorization_details })))).toEqual(refused);
    const code = await wallet.obtainCode(SCOPE);
    expect(fault(await wallet.exchange(code, { authorization_details }))).toEqual(refused);
    expect((await wallet.exchange(code)).status).toBe(200);
  });

  it('pre-authorized offers are refused, others are not [T461]', async () => {
    const { status, body } = await tenant.api.offers.create({ credentials: [sdJwt] });
    expect([status, body]).toEqual([
      400,
      expect.objectContaining({
        code: 'BadRequest',
        message:
          'Pre-authorized offers must not be created while the profile of the tenant is haip; create an offer of the authorization code flow',
      }),
    ]);
    expectStatus(await tenant.api.offers.createOpen({ credentials: [sdJwt] }), 200);
    await switchOff();
    expectStatus(await tenant.api.offers.create({ credentials: [sdJwt] }), 200);
  });

  it('what began before is refused [T463]', async () => {
    await switchOff();
    const [offered, unused] = [await offerCode(), await offerCode()];
    const { body: bound } = await redeem(offered);
    // Sign-ins that wait: of a wallet without attestation, and of a request that was not pushed.
    const sent = wallet.parameters(SCOPE, { client_id: PUBLIC.clientId, redirect_uri: PUBLIC.redirectUris[0] });
    const isCallback = (at: string) => at.includes('/authentication/callback?');
    const waiting: [RedirectBrowser, URL][] = [];
    for (const parameters of [sent, wallet.parameters(SCOPE)]) {
      const browser = new RedirectBrowser();
      waiting.push([browser, await browser.follow(wallet.authorizationUrl(parameters), isCallback)]);
    }
    const detail = [{ type: 'openid_credential', credential_configuration_id: sdJwt }];
    const detailed = wallet.parameters(SCOPE, { authorization_details: JSON.stringify(detail) });
    const { request_uri } = expectStatus(await wallet.push(detailed), 201);
    // A Bearer token of a public client.
    const publicCode = await new RedirectBrowser()
      .follow(wallet.authorizationUrl({ ...sent, code_challenge: detailed['code_challenge'] }), (at) =>
        at.startsWith(PUBLIC.clientId),
      )
      .then((back) => back.searchParams.get('code')!);
    const asPublic = { client_id: PUBLIC.clientId, redirect_uri: PUBLIC.redirectUris[0] };
    const without = { attestation: null, pop: null, dpop: null };
    const { body: bearer } = await wallet.exchange(publicCode, asPublic, without);
    expect(bearer.token_type).toBe('Bearer');
    await switchOn();

    expect(fault(await redeem(unused))).toEqual([
      ...[400, 'unsupported_grant_type', 'grant_type must be authorization_code or refresh_token (HAIP 1.0)'],
    ]);
    for (const [browser, callback] of waiting) {
      const answer = await browser.openUrl(callback.href);
      expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
    }
    const back = await wallet.authorize(request_uri);
    expect(back.searchParams.get('error')).toBe('invalid_authorization_details');
    expect(fault(await collect(bound.access_token))).toEqual([401, 'invalid_token', EARLIER]);
    const plain = { authorization: `Bearer ${bearer.access_token}`, dpop: undefined } as unknown as Record<
      string,
      string
    >;
    expect(fault(await collect(bearer.access_token, plain))).toEqual([401, 'invalid_token', EARLIER]);
    // The offer was not spent.
    await switchOff();
    expect((await redeem(unused)).status).toBe(200);
  });

  it('what was deferred before is refused at the deferred endpoint, and refresh tokens of wallets that do not attest themselves [T491] [T493]', async () => {
    await switchOff();
    const reviewed = { ...pass, type: 'Reviewed', name: 'Reviewed', approval: 'manual' as const };
    const { id } = expectStatus(await tenant.api.sdJwt.create(reviewed), 201);
    const scope = 'dc+sd-jwt:Reviewed';
    const asPublic = { client_id: PUBLIC.clientId, redirect_uri: PUBLIC.redirectUris[0] };
    const unattested = { attestation: null, pop: null };
    const signInPublic = async (sent: { dpop?: null }) => {
      const url = wallet.authorizationUrl(wallet.parameters(scope, asPublic));
      const back = await new RedirectBrowser().follow(url, (at) => at.startsWith(PUBLIC.clientId));
      return wallet.exchange(back.searchParams.get('code')!, asPublic, { ...unattested, ...sent });
    };
    /** A token response, and the polls for the credential that was requested with it. */
    const defer = async (answer: Awaited<ReturnType<typeof redeem>>) => {
      const { access_token: token, token_type: type, refresh_token } = expectStatus(answer, 200);
      const isBearer = type === 'Bearer';
      const headers: Record<string, string | null> = isBearer ? { authorization: `${type} ${token}`, dpop: null } : {};
      const proofs = { jwt: [await wallet.keyProof(await makeHolderKey(), { claims: { iss: undefined } })] };
      const body = { credential_configuration_id: id, proofs };
      const { transaction_id } = expectStatus(await wallet.requestCredential(token, body, headers), 202);
      return { type, refresh_token, poll: () => wallet.requestDeferred(token, transaction_id!, headers) };
    };
    const attested = await defer(await wallet.exchange(await wallet.obtainCode(scope)));
    const bound = await defer(await signInPublic({}));
    const bearer = await defer(await signInPublic({ dpop: null }));
    const offered = await defer(await redeem(await offerCode(id)));
    await switchOn();

    expect([bound.type, bearer.type, offered.type]).toEqual(['DPoP', 'Bearer', 'DPoP']);
    for (const { type, poll } of [bound, bearer, offered]) {
      const answer = await poll();
      expect([...fault(answer), answer.headers.get('www-authenticate')]).toEqual([
        ...[401, 'invalid_token', EARLIER, expect.stringMatching(`^${type} error="invalid_token"`)],
      ]);
    }
    expect((await attested.poll()).status).toBe(202);
    const refresh = ({ refresh_token }: typeof bound, client = {}, sent = {}) =>
      wallet.exchange('', { grant_type: 'refresh_token', refresh_token, code: undefined, ...client }, sent);
    expect(fault(await refresh(bound, asPublic, unattested))).toEqual([
      ...[401, 'invalid_client', 'client_id must be the one of a wallet that attests itself (HAIP 1.0)'],
    ]);
    expect((await refresh(attested)).body.token_type).toBe('DPoP');
    expectStatus(await tenant.api.sdJwt.delete(id), 204);
  });

  it('the last wallet and the last configuration can be deleted: then all requests are refused [T465]', async () => {
    const code = await wallet.obtainCode(SCOPE);
    expectStatus(await tenant.api.wallets.delete(attestedId), 204);
    expect(fault(await wallet.exchange(code))).toEqual([401, 'invalid_client', 'the wallet is no longer registered']);
    expect(fault(await wallet.push(wallet.parameters(SCOPE))).slice(0, 2)).toEqual([400, 'unauthorized_client']);
    expectStatus(await tenant.api.sdJwt.delete(sdJwt), 204);
    expect(expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200).profile).toBe('haip');
    expect((await change({ profile: 'haip' }))[0]).toBe(400);
  });
});
