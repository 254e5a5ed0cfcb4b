/** @engines embedded */
import { randomUUID } from 'node:crypto';
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
  ProtocolWallet,
  RedirectBrowser,
  registerWallet,
  SHIFTED_CLOCK,
  startPlatform,
  TENANT_CLIENT,
  WalletProvider,
  withBrokenSignature,
  type Answer,
  type HolderKey,
  type JwtChange,
  type OAuthFault,
  type PlatformProcess,
  type SentProofs,
  type TenantUnderTest,
  type TokenAnswer,
} from '@attestry/testing';
import { CompactEncrypt, decodeJwt, decodeProtectedHeader, exportJWK, importJWK, type JWK } from 'jose';

// Each refusal of the endpoints for wallets, with all that a wallet receives of it: status, error, description, and every header of the protocols,
// also those that must be absent.

const PUBLIC = 'https://public.refusals.example';
const BOUND = 'https://bound.refusals.example';
const DISABLED = 'https://disabled.refusals.example';
const ATTESTED = 'https://attested.refusals.example';
const COMBINED = 'https://combined.refusals.example';
const BACK = `${PUBLIC}/back`;
const SCOPE = 'jwt_vc_json:Pass';
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
const PAR = '/v1/oauth/par';
const TOKEN = '/v1/oauth/token';
const CREDENTIAL = '/v1/openid/credential';
const NAMESPACE = 'org.example.refused';
/** Proofs of a public client. */
const NONE: SentProofs = { attestation: null, pop: null, dpop: null };

let provider: OpenIdProvider;
let source: ClaimsServer;
let platform: PlatformProcess;
let attester: WalletProvider;
let tenant: TenantUnderTest;
/** Demands nonces, encrypted requests, registered wallets and pushed requests; has no provider. */
let strict: TenantUnderTest;
/** Registered without keys, at both tenants. */
let wallet: ProtocolWallet;
let strictWallet: ProtocolWallet;
/** `dpopRequired` */
let bound: ProtocolWallet;
let attested: ProtocolWallet;
/** Attested, with `dpopRequired`. */
let combined: ProtocolWallet;
/** Credential configurations by type. */
const ids: Record<string, string> = {};
let strictPass: string;

const configure = async (at: TenantUnderTest, type: string, more: object = {}) => {
  const claimMappings = { name: { mapFrom: 'claims.given_name' } };
  const request = { type, name: type, issuer: { name: 'City' }, claimMappings, ...more };
  return expectStatus(await at.api.jwtVc.create(request), 201).id;
};

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
  source = await ClaimsServer.start();
  source.respond = claimsResponse({}, { status: 500 });
  platform = (await startPlatform({ preload: SHIFTED_CLOCK })) as PlatformProcess;
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'refusals');
  strict = await createTenantUnderTest(platform, management, 'strict-refusals');
  for (const { api, host } of [tenant, strict]) {
    await registerWallet(api, PUBLIC, BACK);
    expectStatus(await api.dids.create({ method: 'web', options: { url: host } }), 201);
  }
  attester = await WalletProvider.create();
  const { api } = tenant;
  const register = async (clientId: string, more: object) =>
    expectStatus(
      await api.wallets.create({ name: clientId, clientId, redirectUris: [`${clientId}/back`], ...more }),
      201,
    );
  await register(BOUND, { dpopRequired: true });
  await register(DISABLED, { disabled: true });
  await register(ATTESTED, { rootCertificates: [attester.rootCertificate] });
  await register(COMBINED, { rootCertificates: [attester.rootCertificate], dpopRequired: true });
  const walletOf = (clientId: string, at = tenant) => ProtocolWallet.create(at.url, clientId, attester);
  [wallet, strictWallet, bound, attested, combined] = await Promise.all([
    ...[walletOf(PUBLIC), walletOf(PUBLIC, strict), walletOf(BOUND), walletOf(ATTESTED), walletOf(COMBINED)],
  ] as const);
  expectStatus(
    await api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  ids['Pass'] = await configure(tenant, 'Pass');
  ids['Other'] = await configure(tenant, 'Other');
  ids['Once'] = await configure(tenant, 'Once', { maxIssuances: 1 });
  const required = { degree: { mapFrom: 'claims.degree', required: true } };
  ids['Required'] = await configure(tenant, 'Required', { claimMappings: required });
  const { id: claimSourceId } = expectStatus(await api.claimSources.create({ name: 'Register', url: source.url }), 201);
  ids['Sourced'] = await configure(tenant, 'Sourced', { claimSourceId });
  const keyAttestation = { keyStorage: ['iso_18045_high'], rootCertificates: [attester.rootCertificate] };
  ids['Attested'] = await configure(tenant, 'Attested', { keyAttestation });
  const mobile = { type: NAMESPACE, claimMappings: { [NAMESPACE]: { level: { defaultValue: 'gold' } } } };
  ids['Mobile'] = expectStatus(await api.mobile.create({ ...mobile, expiresIn: { days: 30 } } as never), 201).id;
  expectStatus(await api.openIdConfiguration.update({ strictClaimsSources: true }), 200);
  strictPass = await configure(strict, 'Pass');
  expectStatus(
    await strict.api.openIdConfiguration.update({
      ...{ dpopNonceRequired: true, requirePushedAuthorizationRequests: true, allowUnregisteredWallets: false },
      encryption: { requestRequired: true },
    }),
    200,
  );
}, PLATFORM_START_MS);
afterAll(async () => {
  await platform?.stop();
  await provider?.stop();
  await source?.stop();
});

const seconds = () => Math.floor(Date.now() / 1000);

// --- what a wallet receives

const PROTOCOL_HEADERS = ['www-authenticate', 'dpop-nonce', 'oauth-client-attestation-challenge', 'location'];
const ISSUED_NONCE = expect.stringMatching(/^[0-9a-z]+\.[\w-]{22}\.[\w-]+\.[\w-]{43}$/) as string;
const WITH_NONCE = { 'dpop-nonce': ISSUED_NONCE };
const challengeOf = (scheme: 'Bearer' | 'DPoP', error: string, description: string) => ({
  'www-authenticate': `${scheme} error="${error}", error_description="${description}"${scheme === 'DPoP' ? ', algs="ES256"' : ''}`,
});

const received = ({ status, body, headers }: Answer<OAuthFault>) => ({
  ...{ status, body, type: headers.get('content-type'), caching: headers.get('cache-control') },
  headers: Object.fromEntries(
    PROTOCOL_HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : [])),
  ),
});
const refused = (status: number, error: string, error_description: string, headers: object = {}) => ({
  ...{ status, body: { error, error_description }, type: 'application/json; charset=utf-8', caching: 'no-store' },
  headers,
});

const CODE_REFUSED = refused(400, 'invalid_grant', 'the code is not valid');
const tokenRefused = (scheme: 'Bearer' | 'DPoP', description = 'the access token is not valid', headers: object = {}) =>
  refused(401, 'invalid_token', description, { ...challengeOf(scheme, 'invalid_token', description), ...headers });

/** Members of an answer to a browser: a page, or a redirection to the wallet. */
const shown = async (answer: Response) => {
  const { status, headers } = answer;
  const all = { status, caching: headers.get('cache-control'), referrer: headers.get('referrer-policy') };
  const location = headers.get('location');
  if (location !== null) {
    const { origin, pathname, searchParams } = new URL(location);
    return { ...all, to: `${origin}${pathname}`, parameters: Object.fromEntries(searchParams) };
  }
  const [error, description] = [...(await answer.text()).matchAll(/<dd>([^<]*)<\/dd>/g)].map(([, text]) => text);
  return { ...all, type: headers.get('content-type'), error, description };
};
const onPage = (error: string, description: string) => ({
  ...{ status: 400, caching: 'no-store', referrer: 'no-referrer', type: 'text/html; charset=utf-8' },
  ...{ error, description },
});
const atWallet = (error: string, error_description: string, state: string | null | undefined, at = tenant) => ({
  ...{ status: 302, caching: 'no-store', referrer: 'no-referrer', to: BACK },
  parameters: { error, error_description, state, iss: at.url },
});

// --- requests

const post = (path: string, body: unknown, at = tenant) =>
  new ApiClient(at.url).request<OAuthFault>('POST', path, { body });
const openAuthorization = (query: string | URLSearchParams, at = tenant) =>
  new RedirectBrowser().openUrl(`${at.url}/v1/oauth/authorize?${query}`);

interface Offered {
  id: string;
  code: string;
  transactionCode?: string;
}
const offer = async (more: object = {}, at = tenant): Promise<Offered> => {
  const credentials = [at === strict ? strictPass : ids['Pass']!];
  const { id, uri, transactionCode } = expectStatus(await at.api.offers.create({ credentials, ...more }), 200);
  const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  const { 'pre-authorized_code': code } = grants[PRE_AUTHORIZED]!;
  return { id, code, ...(transactionCode !== undefined && { transactionCode }) };
};
const preAuthorized = (code: string, more: Record<string, string> = {}) => ({
  ...{ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code },
  ...{ code: undefined, redirect_uri: undefined, code_verifier: undefined, client_id: undefined },
  ...more,
});
/** By a public client. */
const redeem = (code: string, more: Record<string, string> = {}) =>
  wallet.exchange('', preAuthorized(code, more), NONE);
const bearerToken = async (type = 'Pass', more: object = {}) =>
  expectStatus(await redeem((await offer({ credentials: [ids[type]!], ...more })).code), 200).access_token;
/** Signs in up to the callback of the provider, or to another address; without a login the person cancels. */
const begin = async (
  more: { login_hint?: undefined } = {},
  until = `${tenant.url}/v1/oauth/authentication/callback`,
) => {
  const browser = new RedirectBrowser();
  const parameters = wallet.parameters(SCOPE, more);
  const callback = await browser.follow(wallet.authorizationUrl(parameters), (url) => url.startsWith(until));
  return { browser, callback, state: parameters['state'] };
};
const ENDED = 'the sign-in has ended or was started in another browser; start again in the wallet';
const detailsOf = (id: string) => JSON.stringify([{ type: 'openid_credential', credential_configuration_id: id }]);
/** Body of a credential request with a new key. */
const requestOf = async (type: string, change: JwtChange = {}, more: object = {}) => ({
  credential_configuration_id: ids[type]!,
  proofs: { jwt: [await wallet.keyProof(await makeHolderKey(), change)] },
  ...more,
});
/** With `token` and without a DPoP proof, unless `headers` has others. */
const collect = (token: string, body: object | string, headers: Record<string, string | null> = {}) =>
  wallet.requestCredential(token, body, { authorization: `Bearer ${token}`, dpop: null, ...headers });
/** Another value of the same form. */
const changed = (value: string) => `${value.slice(0, -2)}${value.endsWith('AA') ? 'BA' : 'AA'}`;
/** Token of a pre-authorized code, bound to the key of `wallet`. */
const boundToken = async () => {
  const sent = { ...NONE, dpop: await wallet.dpop(TOKEN) };
  return expectStatus(await wallet.exchange('', preAuthorized((await offer()).code), sent), 200).access_token;
};

// --- authorization and PAR endpoint

describe('an authorization request', () => {
  type Change = (form: URLSearchParams) => unknown;
  const formWith = (change: Change, by = wallet) => {
    const form = new URLSearchParams(by.parameters(SCOPE) as Record<string, string>);
    change(form);
    return form;
  };

  it('is accepted without these faults', async () => {
    const form = formWith(() => undefined);
    const { status, headers } = await openAuthorization(form);
    expect([status, new URL(headers.get('location')!).origin]).toEqual([302, provider.issuer]);
    expect((await post(PAR, form)).status).toBe(201);
  });

  it.each<[string, Change, string, string]>([
    [
      'no client_id',
      (form) => form.delete('client_id'),
      'invalid_request',
      'client_id must be sent once, with a value',
    ],
    [
      'no redirect_uri',
      (form) => form.delete('redirect_uri'),
      'invalid_request',
      'redirect_uri must be sent once, with a value',
    ],
    [
      'two redirect_uri',
      (form) => form.append('redirect_uri', BACK),
      'invalid_request',
      'redirect_uri must be sent once, with a value',
    ],
    [
      'a redirect_uri that is not registered',
      (form) => form.set('redirect_uri', `${PUBLIC}/other`),
      'invalid_request',
      'redirect_uri must be one of the redirect URIs that are registered for the wallet',
    ],
    [
      'a redirect_uri that is a script',
      (form) => form.set('redirect_uri', 'javascript:alert(1)'),
      'invalid_request',
      'redirect_uri must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment',
    ],
    [
      'the client_id of a disabled wallet',
      (form) => {
        form.set('client_id', DISABLED);
        form.set('redirect_uri', `${DISABLED}/back`);
      },
      'unauthorized_client',
      'this issuer has disabled the wallet',
    ],
  ])('with %s is a page, and JSON where it is pushed [T75] [T290] [T473]', async (_, change, error, description) => {
    expect(await shown(await openAuthorization(formWith(change)))).toEqual(onPage(error, description));
    expect(received(await post(PAR, formWith(change)))).toEqual(refused(400, error, description));
  });

  it('of an unknown client is a page, and JSON where it is pushed [T214] [T473]', async () => {
    const form = formWith((one) => one.set('client_id', 'unknown'), strictWallet);
    const fault = [
      'unauthorized_client',
      'client_id must be the one of a wallet that is registered with this issuer',
    ] as const;
    expect(await shown(await openAuthorization(form, strict))).toEqual(onPage(...fault));
    expect(received(await post(PAR, form, strict))).toEqual(refused(400, ...fault));
  });

  it.each<[string, Change, string, string]>([
    ['no response_type', (form) => form.delete('response_type'), 'invalid_request', 'response_type is missing'],
    [
      'another response_type',
      (form) => form.set('response_type', 'token'),
      'unsupported_response_type',
      'response_type must be code',
    ],
    [
      'another response_mode',
      (form) => form.set('response_mode', 'fragment'),
      'invalid_request',
      'response_mode must be query',
    ],
    ['no code_challenge', (form) => form.delete('code_challenge'), 'invalid_request', 'code_challenge is missing'],
    [
      'a code_challenge that is no digest',
      (form) => form.set('code_challenge', 'x'),
      'invalid_request',
      'code_challenge must be a SHA-256 digest in base64url',
    ],
    [
      'no code_challenge_method',
      (form) => form.delete('code_challenge_method'),
      'invalid_request',
      'code_challenge_method must be S256',
    ],
    [
      'plain PKCE',
      (form) => form.set('code_challenge_method', 'plain'),
      'invalid_request',
      'code_challenge_method must be S256',
    ],
    [
      'a repeated parameter',
      (form) => form.append('scope', SCOPE),
      'invalid_request',
      'a parameter must not be sent more than once',
    ],
    [
      'no scope',
      (form) => form.delete('scope'),
      'invalid_scope',
      'scope must name a credential configuration of this issuer',
    ],
    [
      'an unknown scope',
      (form) => form.set('scope', 'openid jwt_vc_json:None'),
      'invalid_scope',
      'scope must name a credential configuration of this issuer',
    ],
    [
      'authorization_details that are no JSON',
      (form) => form.set('authorization_details', '{'),
      'invalid_authorization_details',
      'authorization_details must be JSON: it ends too early, at line 1, column 2',
    ],
    [
      'authorization_details of another type',
      (form) => form.set('authorization_details', '[{"type":"payment"}]'),
      'invalid_authorization_details',
      'type must be openid_credential',
    ],
    [
      'an unknown credential_configuration_id',
      (form) => form.set('authorization_details', detailsOf(randomUUID())),
      'invalid_authorization_details',
      'credential_configuration_id must be a credential configuration of this issuer',
    ],
    [
      'another resource',
      (form) => form.set('resource', 'https://other.example'),
      'invalid_target',
      'resource must be TENANT, not https://other.example',
    ],
    [
      'a request object',
      (form) => form.set('request', 'a.b.c'),
      'request_not_supported',
      'request objects are not supported',
    ],
    [
      'a dpop_jkt that is no thumbprint',
      (form) => form.set('dpop_jkt', 'x'),
      'invalid_request',
      'dpop_jkt must be the SHA-256 thumbprint of a key in base64url',
    ],
    [
      'the issuer_state of no offer',
      (form) => form.set('issuer_state', 'x'),
      'invalid_request',
      'issuer_state names no current offer of this issuer',
    ],
  ])(
    'with %s is returned to the wallet, and JSON where it is pushed [T75] [T290] [T473]',
    async (_, change, error, description) => {
      const form = formWith(change);
      const expected = description.replace('TENANT', tenant.url);
      expect(await shown(await openAuthorization(form))).toEqual(atWallet(error, expected, form.get('state')));
      expect(received(await post(PAR, form))).toEqual(refused(400, error, expected));
    },
  );

  it('that is pushed with a request_uri is JSON [T290]', async () => {
    const form = formWith((one) => one.set('request_uri', 'urn:x'));
    expect(received(await post(PAR, form))).toEqual(refused(400, 'invalid_request', 'request_uri must not be pushed'));
  });

  it('is returned to the wallet where it must be pushed, and where no provider is configured [T294] [T473]', async () => {
    const form = formWith(() => undefined, strictWallet);
    const unpushed = 'the authorization request must be pushed to /v1/oauth/par first (RFC 9126)';
    expect(await shown(await openAuthorization(form, strict))).toEqual(
      atWallet('invalid_request', unpushed, form.get('state'), strict),
    );
    const { request_uri } = expectStatus(await post(PAR, form, strict), 201) as unknown as {
      request_uri: string;
    };
    expect(
      await shown(await openAuthorization(new URLSearchParams({ client_id: PUBLIC, request_uri }), strict)),
    ).toEqual(atWallet('server_error', 'no authentication provider is configured', form.get('state'), strict));
  });

  it('with a request_uri that cannot be opened is a page [T292] [T293] [T473]', async () => {
    const push = async () => expectStatus(await wallet.push(wallet.parameters(SCOPE), NONE), 201).request_uri;
    const pageOf = async (request_uri: string, client_id = PUBLIC) =>
      shown(await openAuthorization(new URLSearchParams({ client_id, request_uri })));
    const ended = 'request_uri is unknown, has expired or was already used; start again in the wallet';
    const current = await push();
    expect(await pageOf(current, BOUND)).toEqual(
      onPage('invalid_request', 'client_id must be the one of the pushed request'),
    );
    expect(await pageOf('https://wallet.example/request.jwt')).toEqual(
      onPage('invalid_request_uri', 'request_uri must be one that this issuer returned for a pushed request'),
    );
    expect(await pageOf(`${current.slice(0, -43)}${'A'.repeat(43)}`)).toEqual(onPage('invalid_request_uri', ended));
    expect((await wallet.authorize(current)).searchParams.has('code')).toBe(true);
    expect(await pageOf(current)).toEqual(onPage('invalid_request_uri', ended));
  });
});

describe('the response of the provider', () => {
  it.each([
    ['access_denied', 'access_denied', 'the authentication provider did not sign the user in'],
    ['login_required', 'access_denied', 'the authentication provider did not sign the user in'],
    ['temporarily_unavailable', 'temporarily_unavailable', 'the authentication provider is not available'],
    ['server_error', 'server_error', 'the authentication provider returned server_error'],
    ['invalid_scope', 'server_error', 'the authentication provider returned invalid_scope'],
  ])('%s is returned to the wallet as %s [T75] [T473] [T475]', async (given, error, description) => {
    const { browser, callback, state } = await begin({ login_hint: undefined });
    expect(callback.searchParams.get('error')).toBe('access_denied');
    callback.searchParams.set('error', given);
    expect(await shown(await browser.openUrl(callback.href))).toEqual(atWallet(error, description, state));
  });

  it('to a sign-in that has ended, or of another browser, is a page [T473]', async () => {
    const { browser, callback } = await begin();
    const page = onPage('invalid_request', ENDED);
    expect(await shown(await new RedirectBrowser().openUrl(callback.href))).toEqual(page);
    expect(await shown(await browser.openUrl(callback.href))).toMatchObject({ status: 302, to: BACK });
    expect(await shown(await browser.openUrl(callback.href))).toEqual(page);
  });
});

// --- token endpoint

describe('a token request with an authorization code', () => {
  it.each<[string, (code: string) => Record<string, string | undefined>, string]>([
    ['an unknown code', () => ({ code: 'x' }), 'the code is not valid'],
    ['a changed code', (code) => ({ code: changed(code) }), 'the code is not valid'],
    ['another client', () => ({ client_id: 'https://other.example' }), 'the code was issued to another client'],
    [
      'another redirect_uri',
      () => ({ redirect_uri: `${PUBLIC}/other` }),
      'redirect_uri must be the one of the authorization request',
    ],
    ['another code_verifier', () => ({ code_verifier: 'x'.repeat(43) }), 'code_verifier does not match code_challenge'],
    ['no code_verifier', () => ({ code_verifier: undefined }), 'code_verifier is missing'],
  ])('is refused with %s, which spends no code [T78] [T473]', async (_, change, description) => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    expect(received(await wallet.exchange(code, change(code), NONE))).toEqual(
      refused(400, 'invalid_grant', description),
    );
    expect((await wallet.exchange(code, {}, NONE)).status).toBe(200);
  });

  it('is refused with a code that was used, whose token ends [T78] [T473]', async () => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    const exchange = () => wallet.exchange(code, {}, NONE);
    const { access_token: token } = expectStatus(await exchange(), 200);
    expect((await collect(token, {})).body.error).toBe('invalid_credential_request');
    expect(received(await exchange())).toEqual(refused(400, 'invalid_grant', 'the code has already been used'));
    expect(received(await collect(token, {}))).toEqual(tokenRefused('Bearer'));
  });
});

describe('a token request with a pre-authorized code', () => {
  const withTransactionCode = () => offer({ transactionCodeConfiguration: {} });
  const wrongFor = ({ transactionCode }: Offered) => (transactionCode === '000000' ? '000001' : '000000');

  it.each<[string, () => Promise<string>]>([
    ['is unknown', () => Promise.resolve('x')],
    ['was changed', async () => changed((await offer()).code)],
    ['is of another tenant', async () => (await offer({}, strict)).code],
    [
      'was used',
      async () => {
        const { code } = await offer();
        expect((await redeem(code)).status).toBe(200);
        return code;
      },
    ],
    [
      'was deleted',
      async () => {
        const { id, code } = await offer();
        expectStatus(await tenant.api.offers.delete(id), 204);
        return code;
      },
    ],
  ])('that %s is refused [T79] [T473]', async (_, make) =>
    expect(received(await redeem(await make()))).toEqual(CODE_REFUSED),
  );

  it('needs the transaction code, and is locked after three wrong ones [T79] [T473]', async () => {
    const offered = await withTransactionCode();
    const send = (tx_code: string) => redeem(offered.code, { tx_code });
    expect(received(await redeem(offered.code))).toEqual(refused(400, 'invalid_request', 'tx_code is missing'));
    for (let n = 0; n < 3; n++)
      expect(received(await send(wrongFor(offered)))).toEqual(refused(400, 'invalid_grant', 'tx_code is wrong'));
    expect(received(await send(offered.transactionCode!))).toEqual(CODE_REFUSED);
    const once = await withTransactionCode();
    expect((await redeem(once.code, { tx_code: wrongFor(once) })).status).toBe(400);
    expect((await redeem(once.code, { tx_code: once.transactionCode! })).status).toBe(200);
  });

  it('takes no transaction code that the offer does not have [T79] [T473]', async () => {
    const { code } = await offer();
    expect(received(await redeem(code, { tx_code: '123456' }))).toEqual(
      refused(400, 'invalid_request', 'tx_code must not be sent: the offer has no transaction code'),
    );
    expect((await redeem(code)).status).toBe(200);
  });

  it.each<[string, () => string, string]>([
    ['are no JSON', () => '{', 'authorization_details must be JSON: it ends too early, at line 1, column 2'],
    ['have another type', () => '[{"type":"payment"}]', 'type must be openid_credential'],
    [
      'were not offered',
      () => detailsOf(ids['Other']!),
      'credential_configuration_id was neither offered nor requested',
    ],
  ])('is refused with authorization_details that %s [T77] [T473]', async (_, details, description) => {
    const { code } = await offer();
    expect(received(await redeem(code, { authorization_details: details() }))).toEqual(
      refused(400, 'invalid_authorization_details', description),
    );
    expect((await redeem(code)).status).toBe(200);
  });
});

describe('a token request', () => {
  it('has no authorization_details where the issuer chose claim sets, with any grant [T80] [T355] [T473]', async () => {
    const authorization_details = detailsOf(ids['Pass']!);
    const expected = refused(
      400,
      'invalid_authorization_details',
      'authorization_details must not be sent: the issuer chose the credentials of the offer',
    );
    const credentials = [{ credentialConfigurationId: ids['Pass']!, claimSets: [{ claims: { given_name: 'Ada' } }] }];
    const { code } = await offer({ credentials });
    expect(received(await redeem(code, { authorization_details }))).toEqual(expected);
    expect((await redeem(code)).status).toBe(200);

    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials }), 200);
    const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
      grants: { authorization_code: { issuer_state: string } };
    };
    const unbound = { dpop: null };
    const granted = await attested.obtainCode(SCOPE, grants.authorization_code, unbound);
    expect(received(await attested.exchange(granted, { authorization_details }, unbound))).toEqual(expected);
    const { refresh_token } = expectStatus(await attested.exchange(granted, {}, unbound), 200);
    const refresh = (more: object = {}) => {
      const absent = { code: undefined, redirect_uri: undefined, code_verifier: undefined };
      return attested.exchange('', { grant_type: 'refresh_token', refresh_token, ...absent, ...more }, unbound);
    };
    expect(received(await refresh({ authorization_details }))).toEqual(expected);
    expect((await refresh()).status).toBe(200);
  });

  it.each<[string, () => unknown, string, string, string?]>([
    ['no grant_type', () => new URLSearchParams({ code: 'x' }), 'invalid_request', 'grant_type is missing'],
    [
      'an unknown grant_type',
      () => new URLSearchParams({ grant_type: 'password', username: 'x', password: 'x' }),
      'unsupported_grant_type',
      `grant_type must be one of ${PRE_AUTHORIZED}, authorization_code, refresh_token`,
    ],
    [
      'no code',
      () => new URLSearchParams({ grant_type: PRE_AUTHORIZED }),
      'invalid_request',
      'pre-authorized_code is missing',
    ],
    [
      'a repeated parameter',
      () => new URLSearchParams([...['a', 'b'].map((code) => ['code', code]), ['grant_type', 'authorization_code']]),
      'invalid_request',
      'a parameter must not be sent more than once',
    ],
    [
      'a JSON body',
      () => ({ grant_type: PRE_AUTHORIZED }),
      'invalid_request',
      'the content type must be application/x-www-form-urlencoded',
    ],
    [
      'parameters in the query',
      () => new URLSearchParams(),
      'invalid_request',
      'grant_type must not be in the query string',
      `?grant_type=${PRE_AUTHORIZED}`,
    ],
  ])('with %s is refused [T76] [T473]', async (_, body, error, description, query = '') =>
    expect(received(await post(`${TOKEN}${query}`, body()))).toEqual(refused(400, error, description)),
  );

  it('of a disabled wallet is refused [T213] [T473]', async () => {
    const { code } = await offer();
    expect(received(await redeem(code, { client_id: DISABLED }))).toEqual(
      refused(400, 'unauthorized_client', 'this issuer has disabled the wallet'),
    );
  });
});

// --- DPoP

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** The JWS with other header parameters, and the signature of the former ones. */
const withHeader = (jws: string, change: object) =>
  [encoded({ ...decodeProtectedHeader(jws), ...change }), ...jws.split('.').slice(1)].join('.');

describe('a DPoP proof', () => {
  /** Access token that is bound to the key of `wallet`. */
  let token: string;
  beforeAll(async () => {
    token = await boundToken();
  });

  interface Endpoint {
    path: string;
    /** Statuses of an accepted request, and of one whose proof is refused. */
    statuses: [accepted: number, refused: number];
    prove(change?: JwtChange): Promise<string>;
    send(dpop: string): Promise<Answer<OAuthFault>>;
  }
  const endpoints: Record<string, Endpoint> = {
    PAR: {
      path: PAR,
      statuses: [201, 400],
      prove: (change) => wallet.dpop(PAR, change),
      send: (dpop) => wallet.push(wallet.parameters(SCOPE), { ...NONE, dpop }),
    },
    token: {
      path: TOKEN,
      statuses: [200, 400],
      prove: (change) => wallet.dpop(TOKEN, change),
      send: async (dpop) => wallet.exchange('', preAuthorized((await offer()).code), { ...NONE, dpop }),
    },
    credential: {
      path: CREDENTIAL,
      statuses: [200, 401],
      prove: (change) => wallet.dpop(CREDENTIAL, change, token),
      send: async (dpop) => wallet.requestCredential(token, await requestOf('Pass'), { dpop }),
    },
  };
  const refusedAt = ({ statuses: [, status] }: Endpoint, description: string, error = 'invalid_dpop_proof') =>
    refused(status, error, description, {
      ...WITH_NONCE,
      ...(status === 401 && challengeOf('DPoP', error, description)),
    });

  const NO_JWS = 'DPoP proof: must be a compact JWS';
  const BAD_KEY = 'DPoP proof: jwk must be a public P-256 key without private members';
  const BAD_IAT = 'DPoP proof: iat must be at most 300 seconds before and 60 seconds after the current time';
  type Make = (at: Endpoint) => Promise<string>;
  const withChange =
    (change: JwtChange): Make =>
    ({ prove }) =>
      prove(change);
  type Fault = [what: string, make: Make, description: string | ((url: string) => string), error?: string];
  const faults: Fault[] = [
    ['that is empty', () => Promise.resolve(''), NO_JWS],
    ['in two headers', async ({ prove }) => `${await prove()}, ${await prove()}`, NO_JWS],
    ['that is too long', () => Promise.resolve('x'.repeat(16_385)), 'DPoP proof: must have at most 16384 characters'],
    ['of another typ', withChange({ header: { typ: 'JWT' } }), 'DPoP proof: typ must be dpop+jwt'],
    ['with another alg', withChange({ header: { alg: 'RS256' } }), 'DPoP proof: alg must be ES256'],
    ['with alg none', withChange({ header: { alg: 'none' } }), 'DPoP proof: alg must be ES256'],
    [
      'with critical parameters',
      withChange({ header: { crit: ['exp'] } }),
      'DPoP proof: critical header parameters are not supported',
    ],
    ['without jwk', withChange({ header: { jwk: undefined } }), BAD_KEY],
    [
      'with a private key',
      async ({ prove }) => prove({ header: { jwk: await exportJWK(wallet.dpopKey.privateKey) } }),
      BAD_KEY,
    ],
    [
      'with another signature',
      async ({ prove }) => withBrokenSignature(await prove()),
      'DPoP proof: the signature is invalid',
    ],
    ['with another htm', withChange({ claims: { htm: 'GET' } }), 'DPoP proof: htm must be POST'],
    ['without htm', withChange({ claims: { htm: undefined } }), 'DPoP proof: htm must be POST'],
    [
      'with another htu',
      withChange({ claims: { htu: 'https://other.example/' } }),
      (url) => `DPoP proof: htu must be ${url}`,
    ],
    ['without htu', withChange({ claims: { htu: undefined } }), (url) => `DPoP proof: htu must be ${url}`],
    [
      'without jti',
      withChange({ claims: { jti: undefined } }),
      'DPoP proof: jti must be a string of 1 to 256 characters',
    ],
    ['without iat', withChange({ claims: { iat: undefined } }), BAD_IAT],
    ['of six minutes ago', ({ prove }) => prove({ claims: { iat: seconds() - 360 } }), BAD_IAT],
    ['of two minutes ahead', ({ prove }) => prove({ claims: { iat: seconds() + 120 } }), BAD_IAT],
    ['that has expired', ({ prove }) => prove({ claims: { exp: seconds() - 1 } }), 'DPoP proof: exp has passed'],
    [
      'that is not yet valid',
      ({ prove }) => prove({ claims: { nbf: seconds() + 60 } }),
      'DPoP proof: nbf has not been reached',
    ],
    [
      'of another payload',
      withChange({ claims: { htcd: 'A'.repeat(43) } }),
      'DPoP proof: htcd must be the SHA-256 digest of the request payload in base64',
    ],
    [
      'with an unknown nonce',
      withChange({ claims: { nonce: 'x' } }),
      'the nonce of the DPoP proof is unknown or has expired',
      'use_dpop_nonce',
    ],
    [
      'that was used before',
      async ({ prove, send: sendTo, statuses }) => {
        const proof = await prove();
        expect((await sendTo(proof)).status).toBe(statuses[0]);
        return proof;
      },
      'the DPoP proof has already been used',
    ],
  ];

  it.each(Object.keys(endpoints).flatMap((name) => faults.map((fault): [string, ...Fault] => [name, ...fault])))(
    'at the %s endpoint %s is refused [T241] [T254] [T255] [T473]',
    async (name, _what, make, description, error = 'invalid_dpop_proof') => {
      const endpoint = endpoints[name]!;
      const text = typeof description === 'string' ? description : description(`${tenant.url}${endpoint.path}`);
      expect(received(await endpoint.send(await make(endpoint)))).toEqual(refusedAt(endpoint, text, error));
      expect((await endpoint.send(await endpoint.prove())).status).toBe(endpoint.statuses[0]);
    },
  );

  it.each(['PAR', 'token'])(
    'without a nonce is refused at the %s endpoint that demands one [T255] [T473]',
    async (name) => {
      const demanded = refusedAt(
        endpoints[name]!,
        'the DPoP proof must have a nonce of the header DPoP-Nonce',
        'use_dpop_nonce',
      );
      const { code } = await offer({}, strict);
      const sendWith = async (claims: object = {}) => {
        const sent = { ...NONE, dpop: await strictWallet.dpop(endpoints[name]!.path, { claims: { ...claims } }) };
        return name === 'PAR'
          ? strictWallet.push(strictWallet.parameters(SCOPE), sent)
          : strictWallet.exchange('', preAuthorized(code), sent);
      };
      const answer = await sendWith();
      expect(received(answer)).toEqual(demanded);
      const nonce = answer.headers.get('dpop-nonce');
      expect((await sendWith({ nonce })).status).toBe(endpoints[name]!.statuses[0]);
    },
  );

  it('without a nonce is refused at the credential endpoint that demands one [T255] [T473]', async () => {
    const { headers } = await strictWallet.nonce();
    const claims = { nonce: headers.get('dpop-nonce') };
    const { access_token: strictToken } = expectStatus(
      await strictWallet.exchange('', preAuthorized((await offer({}, strict)).code), {
        ...NONE,
        dpop: await strictWallet.dpop(TOKEN, { claims }),
      }),
      200,
    );
    expect(received(await strictWallet.requestCredential(strictToken, {}))).toEqual(
      refusedAt(
        endpoints['credential']!,
        'the DPoP proof must have a nonce of the header DPoP-Nonce',
        'use_dpop_nonce',
      ),
    );
    // With the nonce the next check refuses: the request is not encrypted.
    const dpop = await strictWallet.dpop(CREDENTIAL, { claims }, strictToken);
    expect((await strictWallet.requestCredential(strictToken, {}, { dpop })).body.error).toBe(
      'invalid_encryption_parameters',
    );
  });

  it('is of the key that the authorization request named [T240] [T473]', async () => {
    const required = refused(
      400,
      'invalid_dpop_proof',
      'a DPoP proof of the key that dpop_jkt of the authorization request named is required',
    );
    // The proof of the pushed request names its key.
    const code = await wallet.obtainCode(SCOPE, {}, { ...NONE, dpop: await wallet.dpop(PAR) });
    expect(received(await wallet.exchange(code, {}, NONE))).toEqual(required);
    const foreign = { ...NONE, dpop: await wallet.dpop(TOKEN, { by: await makeHolderKey() }) };
    expect(received(await wallet.exchange(code, {}, foreign))).toEqual({ ...required, headers: WITH_NONCE });
    expect((await wallet.exchange(code, {}, { ...NONE, dpop: await wallet.dpop(TOKEN) })).status).toBe(200);
    const parameters = wallet.parameters(SCOPE, { dpop_jkt: 'A'.repeat(43) });
    expect(received(await wallet.push(parameters, { ...NONE, dpop: await wallet.dpop(PAR) }))).toEqual(
      refused(400, 'invalid_dpop_proof', 'the DPoP proof must be made with the key that dpop_jkt names', WITH_NONCE),
    );
  });

  it('is required of a wallet with dpopRequired [T240] [T473]', async () => {
    const required = refused(400, 'invalid_dpop_proof', 'a DPoP proof is required of this client');
    const code = await bound.obtainCode(SCOPE, {}, NONE);
    expect(received(await bound.exchange(code, {}, NONE))).toEqual(required);
    const proven = { ...NONE, dpop: await bound.dpop(TOKEN) };
    expect((await bound.exchange(code, {}, proven)).status).toBe(200);
    expect(received(await redeem((await offer()).code, { client_id: BOUND }))).toEqual(required);
  });

  it('is required with a bound token, for that token and of its key [T250] [T254] [T473]', async () => {
    const { credential } = endpoints as { credential: Endpoint };
    const refusedWith = (description: string) => refusedAt(credential, description);
    const required = 'a DPoP proof is required';
    expect(received(await wallet.requestCredential(token, {}, { dpop: null }))).toEqual(
      refused(401, 'invalid_dpop_proof', required, challengeOf('DPoP', 'invalid_dpop_proof', required)),
    );
    const ath = 'DPoP proof: ath must be the SHA-256 digest of the access token in base64url';
    for (const claims of [{ ath: undefined }, { ath: 'A'.repeat(43) }])
      expect(received(await credential.send(await credential.prove({ claims })))).toEqual(refusedWith(ath));
    expect(received(await credential.send(await credential.prove({ by: await makeHolderKey() })))).toEqual(
      refusedWith('the DPoP proof must be made with the key of the access token'),
    );
  });
});

// --- client attestation

describe('a client attestation', () => {
  interface Endpoint {
    accepted: number;
    send(by: ProtocolWallet, sent: SentProofs): Promise<Answer<OAuthFault>>;
  }
  const endpoints: Record<string, Endpoint> = {
    PAR: { accepted: 201, send: (by, sent) => by.push(by.parameters(SCOPE), sent) },
    token: {
      accepted: 200,
      send: async (by, sent) => by.exchange('', preAuthorized((await offer()).code, { client_id: by.clientId }), sent),
    },
  };
  const names = Object.keys(endpoints);
  const paths: Record<string, string> = { PAR, token: TOKEN };
  /** A DPoP proof is not sent, so that no nonce is offered. */
  const separate = (sent: SentProofs): SentProofs => ({ dpop: null, ...sent });
  const attest = (change?: JwtChange) => attested.attest(change);

  type Row = [
    what: string,
    make: () => Promise<SentProofs>,
    description: string | (() => string),
    status?: number,
    error?: string,
  ];
  const ofAttestation: Row[] = [
    [
      'no attestation',
      async () => ({ attestation: null }),
      'the header OAuth-Client-Attestation is required of this client',
    ],
    ['an empty attestation', async () => ({ attestation: '' }), 'client attestation: must be a compact JWS'],
    [
      'two attestations',
      async () => ({ attestation: `${await attest()}, ${await attest()}` }),
      'client attestation: must be a compact JWS',
    ],
    [
      'an attestation of another typ',
      async () => ({ attestation: await attest({ header: { typ: 'JWT' } }) }),
      'client attestation: typ must be oauth-client-attestation+jwt',
    ],
    [
      'an attestation with another alg',
      async () => ({ attestation: withHeader(await attest(), { alg: 'RS256' }) }),
      'client attestation: alg must be ES256',
    ],
    [
      'an attestation with alg none',
      async () => ({ attestation: withHeader(await attest(), { alg: 'none' }) }),
      'client attestation: alg must be ES256',
    ],
    [
      'an attestation without x5c',
      async () => ({ attestation: await attest({ header: { x5c: undefined } }) }),
      'client attestation: x5c must be an array of base64 certificates',
    ],
    [
      'the attestation of another provider',
      async () => ({
        attestation: await (await WalletProvider.create()).attest(ATTESTED, attested.instanceKey.publicJwk),
      }),
      'client attestation: x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'the root certificate in x5c',
      async () => {
        const { x5c } = decodeProtectedHeader(await attest()) as { x5c: string[] };
        const root = attester.rootCertificate.replace(/-----[^-]+-----|\s/g, '');
        return { attestation: await attest({ header: { x5c: [...x5c, root] } }) };
      },
      'client attestation: x5c certificate 2 must not be the trust anchor itself',
    ],
    [
      'the attestation of another client',
      async () => ({ attestation: await attest({ claims: { sub: COMBINED } }) }),
      'client attestation: sub must be the client_id of the request',
    ],
    [
      'an attestation without sub',
      async () => ({ attestation: await attest({ claims: { sub: undefined } }) }),
      'client attestation: sub must be the client_id of the request',
    ],
    [
      'an attestation without exp',
      async () => ({ attestation: await attest({ claims: { exp: undefined } }) }),
      'client attestation: exp is missing',
    ],
    [
      'an expired attestation',
      async () => ({ attestation: await attest({ claims: { exp: seconds() - 1 } }) }),
      'client attestation: exp has passed',
    ],
    [
      'an old attestation',
      async () => ({ attestation: await attest({ claims: { iat: seconds() - 31 * 86_400 } }) }),
      'client attestation: iat must be at most 30 days ago',
      400,
      'use_fresh_attestation',
    ],
    [
      'an attestation without key',
      async () => ({ attestation: await attest({ claims: { cnf: {} } }) }),
      'client attestation: cnf.jwk must be a public P-256 key without private members',
    ],
    [
      'an attestation with a private key',
      async () => {
        const jwk = await exportJWK(attested.instanceKey.privateKey);
        return { attestation: await attest({ claims: { cnf: { jwk } } }) };
      },
      'client attestation: cnf.jwk must be a public P-256 key without private members',
    ],
    [
      'an attestation with another signature',
      async () => ({ attestation: withBrokenSignature(await attest()) }),
      'client attestation: the signature is invalid',
    ],
  ];
  const pop = async (change: JwtChange) => ({ pop: await attested.pop(change) });
  const badAudience = () => `client attestation PoP: aud must be ${tenant.url}, not https://other.example`;
  const noAudience = () => `client attestation PoP: aud is missing: it must be ${tenant.url}`;
  const ofPossession: Row[] = [
    [
      'no proof of possession',
      async () => ({ pop: null }),
      'the header OAuth-Client-Attestation-PoP is required of this client',
    ],
    ['an empty proof of possession', async () => ({ pop: '' }), 'client attestation PoP: must be a compact JWS'],
    [
      'two proofs of possession',
      async () => ({ pop: `${await attested.pop()}, ${await attested.pop()}` }),
      'client attestation PoP: must be a compact JWS',
    ],
    [
      'a proof of possession of another typ',
      () => pop({ header: { typ: 'JWT' } }),
      'client attestation PoP: typ must be oauth-client-attestation-pop+jwt',
    ],
    [
      'a proof of possession with another alg',
      () => pop({ header: { alg: 'RS256' } }),
      'client attestation PoP: alg must be ES256',
    ],
    ['a proof of possession for another issuer', () => pop({ claims: { aud: 'https://other.example' } }), badAudience],
    ['a proof of possession without aud', () => pop({ claims: { aud: undefined } }), noAudience],
    [
      'a proof of possession without jti',
      () => pop({ claims: { jti: undefined } }),
      'client attestation PoP: jti must be a string of 1 to 256 characters',
    ],
    [
      'a proof of possession without iat',
      () => pop({ claims: { iat: undefined } }),
      'client attestation PoP: iat must be within 300 seconds of the current time',
    ],
    [
      'an old proof of possession',
      () => pop({ claims: { iat: seconds() - 360 } }),
      'client attestation PoP: iat must be within 300 seconds of the current time',
    ],
    [
      'a proof of possession of another key',
      async () => pop({ by: await makeHolderKey() }),
      'client attestation PoP: the signature is invalid',
    ],
    [
      'an unknown challenge',
      () => pop({ claims: { challenge: 'x' } }),
      'the challenge is unknown or has expired',
      400,
      'use_attestation_challenge',
    ],
  ];

  // First: after 20 refusals of a wallet by one check in a minute the others are combined.
  it.each(names)('that fails at the %s endpoint is in the events of the tenant [T331]', async (name) => {
    const { headers } = await endpoints[name]!.send(attested, separate({ pop: null }));
    const requestIds = [headers.get('x-request-id')!];
    const { data } = expectStatus(await tenant.api.analytics.list({ requestIds }), 200);
    expect(data.find(({ type }) => type.endsWith('_FAIL'))).toMatchObject({
      type: name === 'PAR' ? 'OPENID_PAR_FAIL' : 'OPENID_TOKEN_FAIL',
      metadata: {
        error: {
          status: 401,
          code: 'invalid_client',
          message: 'the header OAuth-Client-Attestation-PoP is required of this client',
        },
      },
    });
  });

  it.each(names.flatMap((name) => [...ofAttestation, ...ofPossession].map((row): [string, ...Row] => [name, ...row])))(
    'at the %s endpoint: with %s a request is refused [T331] [T332] [T343] [T473]',
    async (name, _what, make, description, status = 401, error = 'invalid_client') => {
      const { send: sendTo, accepted } = endpoints[name]!;
      const text = typeof description === 'string' ? description : description();
      expect(received(await sendTo(attested, separate(await make())))).toEqual(
        refused(status, error, text, {
          ...(error === 'use_attestation_challenge' && { 'oauth-client-attestation-challenge': ISSUED_NONCE }),
        }),
      );
      expect((await sendTo(attested, separate({}))).status).toBe(accepted);
    },
  );

  it.each(names)(
    'at the %s endpoint its proof of possession is used once, with a challenge of a refusal [T332] [T342] [T473]',
    async (name) => {
      const { send: sendTo, accepted } = endpoints[name]!;
      const once = separate({ pop: await attested.pop() });
      expect((await sendTo(attested, once)).status).toBe(accepted);
      const used = 'the proof of possession of the client attestation has already been used';
      expect(received(await sendTo(attested, once))).toEqual(refused(401, 'invalid_client', used));

      const stale = await sendTo(attested, separate({ pop: await attested.pop({ claims: { challenge: 'x' } }) }));
      const challenge = stale.headers.get('oauth-client-attestation-challenge');
      const withChallenge = separate({ pop: await attested.pop({ claims: { challenge } }) });
      expect((await sendTo(attested, withChallenge)).status).toBe(accepted);
    },
  );

  const byInstance = async (name: string, change: JwtChange = {}): Promise<SentProofs> => ({
    pop: null,
    dpop: await combined.dpop(paths[name]!, { by: combined.instanceKey, ...change }),
  });
  it.each<[string, (name: string) => Promise<SentProofs>, ReturnType<typeof refused>]>([
    [
      'no attestation',
      async (name) => ({ ...(await byInstance(name)), attestation: null }),
      refused(401, 'invalid_client', 'the header OAuth-Client-Attestation is required of this client', WITH_NONCE),
    ],
    [
      'no DPoP proof',
      async () => ({ pop: null, dpop: null }),
      refused(400, 'invalid_dpop_proof', 'a DPoP proof of the attested key is required of this client'),
    ],
    [
      'the DPoP proof of another key',
      async (name) => byInstance(name, { by: combined.dpopKey }),
      refused(
        401,
        'invalid_client',
        'the DPoP proof must be made with the key in cnf.jwk of the client attestation',
        WITH_NONCE,
      ),
    ],
    [
      'both proofs',
      async (name) => ({ ...(await byInstance(name)), pop: await combined.pop() }),
      refused(
        401,
        'invalid_client',
        'the header OAuth-Client-Attestation-PoP must not be sent: the DPoP proof is the proof of possession',
        WITH_NONCE,
      ),
    ],
    [
      'an unknown challenge',
      async (name) => byInstance(name, { claims: { nonce: 'x' } }),
      refused(400, 'use_dpop_nonce', 'the nonce of the DPoP proof is unknown or has expired', WITH_NONCE),
    ],
  ])(
    'of a wallet with dpopRequired: with %s a request is refused at both endpoints [T330] [T331] [T473]',
    async (_, make, expected) => {
      for (const name of names) {
        const { send: sendTo, accepted } = endpoints[name]!;
        expect(received(await sendTo(combined, await make(name)))).toEqual(expected);
        expect((await sendTo(combined, await byInstance(name))).status).toBe(accepted);
      }
    },
  );

  it('excludes dpop_jkt where the DPoP key is attested [T333] [T473]', async () => {
    const parameters = combined.parameters(SCOPE, { dpop_jkt: 'A'.repeat(43) });
    expect(received(await combined.push(parameters, await byInstance('PAR')))).toEqual(
      refused(400, 'invalid_request', 'dpop_jkt must not be sent by a wallet whose DPoP key is attested', WITH_NONCE),
    );
  });
});

// --- credential endpoint

describe('a credential request', () => {
  let token: string;
  let key: HolderKey;
  beforeAll(async () => {
    token = await bearerToken();
    key = await makeHolderKey();
  });

  it('is accepted without these faults', async () =>
    expect((await collect(token, await requestOf('Pass'))).status).toBe(200));

  const ONE_OF_TWO = 'exactly one of credential_configuration_id and credential_identifier is required';
  it.each<[string, () => Promise<object | string>, string]>([
    ['that is no JSON', async () => '{"a', 'the body must be JSON: it ends too early, at line 1, column 4'],
    ['that is no object', async () => '[]', 'the body must be a JSON object'],
    [
      'that repeats a member [T474]',
      async () =>
        JSON.stringify(await requestOf('Pass')).replace('{', `{"credential_configuration_id":"${ids['Other']}",`),
      'the body must not repeat a member',
    ],
    [
      'that names no credential',
      async () => requestOf('Pass', {}, { credential_configuration_id: undefined }),
      ONE_OF_TWO,
    ],
    ['that names two', async () => requestOf('Pass', {}, { credential_identifier: 'x' }), ONE_OF_TWO],
    [
      'whose credential is no text',
      async () => requestOf('Pass', {}, { credential_configuration_id: 1 }),
      'credential_configuration_id must be a string',
    ],
    [
      'with proof and proofs',
      async () => requestOf('Pass', {}, { proof: { proof_type: 'jwt', jwt: 'x' } }),
      'proof and proofs must not both be sent',
    ],
    ['whose proofs are no object', async () => requestOf('Pass', {}, { proofs: [] }), 'proofs must be an object'],
    [
      'with proofs of two types',
      async () => requestOf('Pass', {}, { proofs: { jwt: ['x'], attestation: ['x'] } }),
      'proofs must have exactly one member',
    ],
    [
      'whose proofs are no array',
      async () => requestOf('Pass', {}, { proofs: { jwt: 'x' } }),
      'proofs.jwt must be an array',
    ],
    [
      'with eleven proofs',
      async () => requestOf('Pass', {}, { proofs: { jwt: Array<string>(11).fill('x') } }),
      'proofs.jwt must have at most 10 entries',
    ],
  ])('%s is refused [T85] [T473]', async (_, make, description) =>
    expect(received(await collect(token, await make()))).toEqual(
      refused(400, 'invalid_credential_request', description),
    ),
  );

  it('of another media type is refused [T85] [T473]', async () =>
    expect(
      received(await collect(token, JSON.stringify(await requestOf('Pass')), { 'content-type': 'text/plain' })),
    ).toEqual(
      refused(
        400,
        'invalid_credential_request',
        'the content type must be application/json, or application/jwt for an encrypted request',
      ),
    ));

  it('names a credential as the token response does, which exists [T85] [T466] [T473]', async () => {
    const unknown = await requestOf('Pass', {}, { credential_configuration_id: randomUUID() });
    expect(received(await collect(token, unknown))).toEqual(
      refused(
        400,
        'unknown_credential_configuration',
        'credential_configuration_id is not a credential configuration of this issuer',
      ),
    );
    const withoutId = (identifier: string) =>
      requestOf('Pass', {}, { credential_configuration_id: undefined, credential_identifier: identifier });
    expect(received(await collect(token, await withoutId('x')))).toEqual(
      refused(
        400,
        'unknown_credential_identifier',
        'credential_configuration_id is required, because the token response returned no credential identifiers',
      ),
    );
    const { code } = await offer();
    const { access_token: byIdentifier, authorization_details: details } = expectStatus(
      (await redeem(code, { authorization_details: detailsOf(ids['Pass']!) })) as Answer<TokenAnswer>,
      200,
    );
    expect(received(await collect(byIdentifier, await withoutId('x')))).toEqual(
      refused(
        400,
        'unknown_credential_identifier',
        'credential_identifier is not one that the token response returned',
      ),
    );
    const [identifier] = details![0]!.credential_identifiers as [string];
    expect((await collect(byIdentifier, await withoutId(identifier))).status).toBe(200);
  });

  it.each<[string, () => Promise<object>, string]>([
    ['no proofs', async () => requestOf('Pass', {}, { proofs: undefined }), 'proofs is missing'],
    ['empty proofs', async () => requestOf('Pass', {}, { proofs: {} }), 'proofs is empty'],
    ['no proof', async () => requestOf('Pass', {}, { proofs: { jwt: [] } }), 'proofs.jwt is empty'],
    [
      'proofs of another type',
      async () => requestOf('Pass', {}, { proofs: { di_vp: ['x'] } }),
      'the only supported proof types are jwt and attestation',
    ],
    [
      'a proof of another typ',
      async () => requestOf('Pass', { header: { typ: 'JWT' } }),
      'proof: typ must be openid4vci-proof+jwt',
    ],
    [
      'a proof with another alg',
      async () => requestOf('Pass', { header: { alg: 'RS256' } }),
      'proof: alg must be ES256 or EdDSA',
    ],
    [
      'a proof for another issuer',
      async () => requestOf('Pass', { claims: { aud: 'https://other.example' } }),
      'proof: aud must be TENANT, not https://other.example',
    ],
    ['a proof without iat', async () => requestOf('Pass', { claims: { iat: undefined } }), 'proof: iat is missing'],
    [
      'an old proof',
      async () => requestOf('Pass', { claims: { iat: seconds() - 360 } }),
      'proof: iat must be within 300 seconds of the current time',
    ],
    [
      'a proof without nonce',
      async () => requestOf('Pass', { claims: { nonce: undefined } }),
      'proof: nonce is missing',
    ],
    [
      'a proof without key',
      async () => requestOf('Pass', { header: { jwk: undefined } }),
      'proof: exactly one of kid, jwk and x5c is required',
    ],
    [
      'a proof with a private key',
      async () => requestOf('Pass', { header: { jwk: await exportJWK(key.privateKey) } }),
      'proof: jwk is not a usable public key',
    ],
    [
      'a proof of another key',
      async () => requestOf('Pass', { by: await makeHolderKey() }),
      'proof: the signature is invalid',
    ],
    [
      'two proofs of one key',
      async () => requestOf('Pass', {}, { proofs: { jwt: [await wallet.keyProof(key), await wallet.keyProof(key)] } }),
      'each proof must have a different key',
    ],
    [
      'a key attestation that is not asked for',
      async () => requestOf('Pass', {}, { proofs: { attestation: ['a.b.c'] } }),
      'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation',
    ],
  ])('with %s is refused [T86] [T473]', async (_, make, description) =>
    expect(received(await collect(token, await make()))).toEqual(
      refused(400, 'invalid_proof', description.replace('TENANT', tenant.url)),
    ),
  );

  it('may name the issuer with the slash of the empty path, and nothing else [T742]', async () => {
    const withAudience = async (aud: unknown) =>
      collect(await bearerToken('Pass'), await requestOf('Pass', { claims: { aud } }));
    for (const aud of [`${tenant.url}/`, [`${tenant.url}/`]]) expect((await withAudience(aud)).status).toBe(200);
    for (const aud of [`${tenant.url}//`, tenant.url.toUpperCase(), `${tenant.url}/?`])
      expect(received(await withAudience(aud))).toEqual(
        refused(400, 'invalid_proof', `proof: aud must be ${tenant.url}, not ${aud}`),
      );
  });

  it('is refused without the key attestation that is required, and with a bad one [T376] [T473]', async () => {
    const bearer = await bearerToken('Attested');
    const proofWith = async (header: (nonce: string) => Promise<Record<string, unknown>>) => {
      const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
      const jwt = [await wallet.keyProof(key, { header: await header(nonce), claims: { nonce } })];
      return { credential_configuration_id: ids['Attested']!, proofs: { jwt } };
    };
    const attestation = (nonce: string) =>
      attester.attestKeys([key.publicJwk], nonce, { key_storage: ['iso_18045_high'] });
    const faults: [Awaited<ReturnType<typeof proofWith>>, string][] = [
      [
        await proofWith(async () => ({})),
        'proof: key_attestation is missing: this credential configuration requires it',
      ],
      [
        await proofWith(async (nonce) => ({ key_attestation: withBrokenSignature(await attestation(nonce)) })),
        'key attestation: the signature is invalid',
      ],
    ];
    for (const [body, description] of faults)
      expect(received(await collect(bearer, body))).toEqual(refused(400, 'invalid_proof', description));
    const good = await proofWith(async (nonce) => ({ key_attestation: await attestation(nonce) }));
    expect((await collect(bearer, good)).status).toBe(200);
  });

  it('is refused with a c_nonce that is unknown, of another tenant, or used [T473]', async () => {
    const unknown = refused(
      400,
      'invalid_nonce',
      'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
    );
    const withNonce = (nonce: string) => requestOf('Pass', { claims: { nonce } });
    expect(received(await collect(token, await withNonce('x')))).toEqual(unknown);
    const { c_nonce: foreign } = expectStatus(await strictWallet.nonce(), 200);
    expect(received(await collect(token, await withNonce(foreign)))).toEqual(unknown);
    const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
    expect((await collect(token, await withNonce(nonce))).status).toBe(200);
    expect(received(await collect(token, await withNonce(nonce)))).toEqual(
      refused(
        400,
        'invalid_nonce',
        'the c_nonce has already been used: get another from the nonce endpoint for each request',
      ),
    );
  });

  it('is refused without an encryption that is required, or with one that is not supported [T315] [T473]', async () => {
    const metadata = await new ApiClient(tenant.url).request<{
      credential_request_encryption: { jwks: { keys: [JWK & { kid: string }] } };
    }>('GET', '/.well-known/openid-credential-issuer');
    const [jwk] = metadata.body.credential_request_encryption.jwks.keys;
    const encrypt = async (body: object, header: object = {}) =>
      new CompactEncrypt(Buffer.from(JSON.stringify(body)))
        .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: jwk.kid, ...header })
        .encrypt(await importJWK(jwk, 'ECDH-ES'));
    const expectRefusal = async (answer: Promise<Answer<OAuthFault>>, description: string) =>
      expect(received(await answer)).toEqual(refused(400, 'invalid_encryption_parameters', description));
    const sendJwe = (jwe: string) => collect(token, jwe, { 'content-type': 'application/jwt' });
    const wanted = (change: object = {}, more: object = {}) => ({
      credential_response_encryption: { jwk: { ...jwk, alg: 'ECDH-ES', ...change }, enc: 'A256GCM', ...more },
    });
    const plain = await requestOf('Pass', {}, wanted());
    await expectRefusal(
      collect(token, plain),
      'credential_response_encryption is only allowed in an encrypted request',
    );
    await expectRefusal(sendJwe('x'), 'the body must be a compact JWE without an encrypted key, as ECDH-ES makes it');
    const jwe = await encrypt(plain);
    await expectRefusal(sendJwe(withHeader(jwe, { alg: 'dir' })), 'alg must be ECDH-ES');
    await expectRefusal(sendJwe(withHeader(jwe, { enc: 'A128CBC-HS256' })), 'enc must be one of A128GCM, A256GCM');
    await expectRefusal(
      sendJwe(await encrypt(plain, { kid: 'x' })),
      'kid is not a current key of credential_request_encryption in the metadata',
    );
    for (const [more, description] of [
      [wanted({ alg: 'RSA-OAEP' }), 'credential_response_encryption.jwk.alg must be ECDH-ES'],
      [wanted({}, { enc: 'A128CBC-HS256' }), 'credential_response_encryption.enc must be one of A128GCM, A256GCM'],
      [wanted({}, { zip: 'GZIP' }), 'credential_response_encryption.zip must be DEF'],
    ] as const)
      await expectRefusal(sendJwe(await encrypt({ ...plain, ...more })), description);
    const accepted = await sendJwe(jwe);
    expect([accepted.status, accepted.headers.get('content-type')]).toEqual([200, 'application/jwt']);

    const { code } = await offer({}, strict);
    const { access_token: strictToken } = expectStatus(await strictWallet.exchange('', preAuthorized(code), NONE), 200);
    const headers = { authorization: `Bearer ${strictToken}`, dpop: null };
    await expectRefusal(
      strictWallet.requestCredential(strictToken, {}, headers),
      'the request must be encrypted: this issuer requires the content type application/jwt',
    );
  });

  it('that cannot be satisfied is denied [T120] [T414] [T436] [T473]', async () => {
    const denied = (description: string) => refused(400, 'credential_request_denied', description);
    const code = await wallet.obtainCode('jwt_vc_json:Required', {}, NONE);
    const { access_token: withoutDegree } = expectStatus(await wallet.exchange(code, {}, NONE), 200);
    for (const [type, bearer, description] of [
      ['Required', withoutDegree, 'the required claim degree has no value: neither the ID token nor UserInfo has it'],
      ['Mobile', await bearerToken('Mobile'), 'no IACA of the issuer is active and valid'],
      ['Sourced', await bearerToken('Sourced'), 'a claims source did not return the claims of the credential'],
    ] as const)
      expect(received(await collect(bearer, await requestOf(type)))).toEqual(denied(description));
    const once = await bearerToken('Once');
    expect((await collect(once, await requestOf('Once'))).status).toBe(200);
    expect(received(await collect(once, await requestOf('Once')))).toEqual(
      denied('the credential configuration allows no more credentials for this offer'),
    );
  });

  it.each([null, 'Basic YTpi', 'Bearer', 'Bearer a b'])(
    'without an access token is refused: %s [T254] [T473]',
    async (authorization) =>
      expect(received(await collect(token, await requestOf('Pass'), { authorization }))).toEqual(
        refused(401, 'invalid_token', 'an access token with the scheme Bearer or DPoP is required', {
          'www-authenticate': 'Bearer, DPoP algs="ES256"',
        }),
      ),
  );

  it('is refused with a token that is unknown, a code, or of a deleted offer [T254] [T473]', async () => {
    const body = await requestOf('Pass');
    for (const other of ['x', changed(token), (await offer()).code])
      expect(received(await collect(other, body))).toEqual(tokenRefused('Bearer'));
    expect(received(await collect(token, body, { authorization: 'DPoP x' }))).toEqual(tokenRefused('DPoP'));
    const { id, code } = await offer();
    const { access_token: deleted } = expectStatus(await redeem(code), 200);
    expectStatus(await tenant.api.offers.delete(id), 204);
    expect(received(await collect(deleted, body))).toEqual(tokenRefused('Bearer'));
  });

  it('is refused with a token in the query, which is not accepted instead of the header [T473]', async () => {
    const query = `?access_token=${token}`;
    for (const headers of [{ authorization: null }, { authorization: `Bearer ${token}` }])
      expect(
        received(await wallet.requestCredential(token, await requestOf('Pass'), { dpop: null, ...headers }, query)),
      ).toEqual(refused(400, 'invalid_request', 'the access token must not be in the query string'));
  });

  it('is refused with another scheme than that of the token [T254] [T473]', async () => {
    const body = await requestOf('Pass');
    const isBound = 'the access token is bound to a DPoP key: send it with the scheme DPoP and a proof';
    expect(received(await collect(await boundToken(), body))).toEqual(tokenRefused('DPoP', isBound));
    const isUnbound = 'the access token is not bound to a DPoP key: send it with the scheme Bearer';
    expect(received(await wallet.requestCredential(token, body))).toEqual(
      tokenRefused('Bearer', isUnbound, WITH_NONCE),
    );
    expect((await collect(token, body)).status).toBe(200);
  });

  it('for a credential that the token does not cover is refused [T254] [T473]', async () => {
    const body = await requestOf('Other');
    const description = 'the access token does not cover this credential configuration';
    const expected = (scheme: 'Bearer' | 'DPoP', headers: object = {}) =>
      refused(403, 'insufficient_scope', description, {
        ...challengeOf(scheme, 'insufficient_scope', description),
        ...headers,
      });
    expect(received(await collect(token, body))).toEqual(expected('Bearer'));
    expect(received(await wallet.requestCredential(await boundToken(), body))).toEqual(expected('DPoP', WITH_NONCE));
    expect((await collect(await bearerToken('Other'), body)).status).toBe(200);
  });
});

// Last, because the clock moves: what is cached meanwhile would be too new.
describe('what has expired is refused:', () => {
  /** Runs with the clock of the platform ahead. */
  const withClockAhead = async <T>(ms: number, run: () => Promise<T>): Promise<T> => {
    await platform.query(ms);
    try {
      return await run();
    } finally {
      await platform.query(0);
    }
  };
  const HOOK = 'https://hook.example.com/visit';

  it('an interaction, on a page; one that failed in time is returned to the wallet [T421] [T473]', async () => {
    expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook: { url: HOOK } }), 200);
    const visits = [await begin({}, HOOK), await begin({}, HOOK)] as const;
    expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook: null }), 200);
    const comeBack = async ({ browser, callback }: (typeof visits)[number]) => {
      const token = callback.searchParams.get('session_token')!;
      const { redirectUrl } = decodeJwt<{ redirectUrl: string }>(token);
      return shown(await browser.openUrl(`${redirectUrl}?session_token=${token}`));
    };
    const changedHook = 'the interaction hook of the issuer has changed; start again in the wallet';
    expect(await comeBack(visits[0])).toEqual(atWallet('access_denied', changedHook, visits[0].state));
    expect(await withClockAhead(1_201_000, () => comeBack(visits[1]))).toEqual(onPage('invalid_request', ENDED));
  });

  it('a sign-in, on a page [T473]', async () => {
    const { browser, callback } = await begin();
    const comeBack = async () => shown(await browser.openUrl(callback.href));
    expect(await withClockAhead(1_201_000, comeBack)).toEqual(onPage('invalid_request', ENDED));
  });

  it('a request_uri, on a page [T291] [T473]', async () => {
    const { request_uri } = expectStatus(await wallet.push(wallet.parameters(SCOPE), NONE), 201);
    const query = new URLSearchParams({ client_id: PUBLIC, request_uri });
    const ended = 'request_uri is unknown, has expired or was already used; start again in the wallet';
    expect(await withClockAhead(61_000, async () => shown(await openAuthorization(query)))).toEqual(
      onPage('invalid_request_uri', ended),
    );
  });

  it('an authorization code [T78] [T473]', async () => {
    const code = await wallet.obtainCode(SCOPE, {}, NONE);
    expect(received(await withClockAhead(61_000, () => wallet.exchange(code, {}, NONE)))).toEqual(CODE_REFUSED);
  });

  it('a pre-authorized code [T79] [T473]', async () => {
    const { code } = await offer();
    expect(received(await withClockAhead(301_000, () => redeem(code)))).toEqual(CODE_REFUSED);
  });

  it('an attestation challenge [T332] [T473]', async () => {
    const { body } = await post('/v1/oauth/challenge', '');
    const { attestation_challenge: challenge } = body as unknown as { attestation_challenge: string };
    const attestation = await attested.attest({ claims: { exp: seconds() + 3600 } });
    const exchange = async () => {
      const { code } = await offer();
      const pop = await attested.pop({ claims: { challenge, iat: seconds() + 200 } });
      return attested.exchange('', preAuthorized(code, { client_id: ATTESTED }), { attestation, pop, dpop: null });
    };
    expect((await exchange()).status).toBe(200);
    expect(received(await withClockAhead(301_000, exchange))).toEqual(
      refused(400, 'use_attestation_challenge', 'the challenge is unknown or has expired', {
        'oauth-client-attestation-challenge': ISSUED_NONCE,
      }),
    );
  });

  it('a DPoP nonce [T255] [T473]', async () => {
    const nonce = (await wallet.nonce()).headers.get('dpop-nonce');
    const exchange = async () => {
      const dpop = await wallet.dpop(TOKEN, { claims: { nonce, iat: seconds() + 50 } });
      return wallet.exchange('', preAuthorized((await offer()).code), { ...NONE, dpop });
    };
    expect((await exchange()).status).toBe(200);
    expect(received(await withClockAhead(301_000, exchange))).toEqual(
      refused(400, 'use_dpop_nonce', 'the nonce of the DPoP proof is unknown or has expired', WITH_NONCE),
    );
  });

  it('a c_nonce [T473]', async () => {
    const { c_nonce: nonce } = expectStatus(await wallet.nonce(), 200);
    const request = (iat: number) => requestOf('Pass', { claims: { nonce, iat } });
    const expired = await withClockAhead(301_000, async () =>
      collect(await bearerToken(), await request(seconds() + 301)),
    );
    expect(received(expired)).toEqual(
      refused(
        400,
        'invalid_nonce',
        'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
      ),
    );
    expect((await collect(await bearerToken(), await request(seconds()))).status).toBe(200);
  });

  it('an access token, with the challenge of its scheme [T254] [T473]', async () => {
    const [bearer, proven, body] = [await bearerToken(), await boundToken(), await requestOf('Pass')];
    expect(received(await withClockAhead(301_000, () => collect(bearer, body)))).toEqual(tokenRefused('Bearer'));
    expect(received(await withClockAhead(901_000, () => collect(proven, body)))).toEqual(tokenRefused('DPoP'));
  });
});
