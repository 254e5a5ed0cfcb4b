// The specs of this folder check each refusal of the endpoints for wallets, with all that a wallet receives of it: status, error, description, and
// every header of the protocols, also those that must be absent.
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
  sharedPlatform,
  ProtocolWallet,
  RedirectBrowser,
  registerWallet,
  TENANT_CLIENT,
  WalletProvider,
  type Answer,
  type JwtChange,
  type OAuthFault,
  type PlatformAddresses,
  type SentProofs,
  type TenantUnderTest,
} from '@attestry/testing';
import { decodeProtectedHeader } from 'jose';

export const PUBLIC = 'https://public.refusals.example';
export const BOUND = 'https://bound.refusals.example';
export const DISABLED = 'https://disabled.refusals.example';
export const ATTESTED = 'https://attested.refusals.example';
export const COMBINED = 'https://combined.refusals.example';
export const BACK = `${PUBLIC}/back`;
export const SCOPE = 'jwt_vc_json:Pass';
export const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';
export const PAR = '/v1/oauth/par';
export const TOKEN = '/v1/oauth/token';
const NAMESPACE = 'org.example.refused';
/** Proofs of a public client. */
export const NONE: SentProofs = { attestation: null, pop: null, dpop: null };

export let provider: OpenIdProvider;
export let source: ClaimsServer;
export let platform: PlatformAddresses;
export let attester: WalletProvider;
export let tenant: TenantUnderTest;
/** Demands nonces, encrypted requests, registered wallets and pushed requests; has no provider. */
export let strict: TenantUnderTest;
/** Registered without keys, at both tenants. */
export let wallet: ProtocolWallet;
export let strictWallet: ProtocolWallet;
/** `dpopRequired` */
export let bound: ProtocolWallet;
export let attested: ProtocolWallet;
/** Attested, with `dpopRequired`. */
export let combined: ProtocolWallet;
/** Credential configurations by type. */
export const ids: Record<string, string> = {};

let strictPass: string;
const configure = async (at: TenantUnderTest, type: string, more: object = {}) => {
  const claimMappings = { name: { mapFrom: 'claims.given_name' } };
  const request = { type, name: type, issuer: { name: 'City' }, claimMappings, ...more };
  return expectStatus(await at.api.jwtVc.create(request), 201).id;
};

/**
 * For each spec file.
 * @param subject in the names of its tenants
 * @param open the platform; default: the one that the specs share
 */
export const startRefusals = (subject: string, open: () => Promise<PlatformAddresses> = sharedPlatform): void => {
  beforeAll(async () => {
    provider = await OpenIdProvider.start('https://management.example');
    provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
    source = await ClaimsServer.start();
    source.respond = claimsResponse({}, { status: 500 });
    platform = await open();
    const management = await connectManagement(platform);
    [tenant, strict] = await Promise.all([
      createTenantUnderTest(platform, management, `refused-${subject}`),
      createTenantUnderTest(platform, management, `strict-${subject}`),
    ]);
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
    const { id: claimSourceId } = expectStatus(
      await api.claimSources.create({ name: 'Register', url: source.url }),
      201,
    );
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
    await provider?.stop();
    await source?.stop();
  });
};

export const seconds = () => Math.floor(Date.now() / 1000);
const PROTOCOL_HEADERS = ['www-authenticate', 'dpop-nonce', 'oauth-client-attestation-challenge', 'location'];
export const ISSUED_NONCE = expect.stringMatching(/^[0-9a-z]+\.[\w-]{22}\.[\w-]+\.[\w-]{43}$/) as string;
export const WITH_NONCE = { 'dpop-nonce': ISSUED_NONCE };
export const challengeOf = (scheme: 'Bearer' | 'DPoP', error: string, description: string) => ({
  'www-authenticate': `${scheme} error="${error}", error_description="${description}"${scheme === 'DPoP' ? ', algs="ES256"' : ''}`,
});

export const received = ({ status, body, headers }: Answer<OAuthFault>) => ({
  ...{ status, body, type: headers.get('content-type'), caching: headers.get('cache-control') },
  headers: Object.fromEntries(
    PROTOCOL_HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : [])),
  ),
});

export const refused = (status: number, error: string, error_description: string, headers: object = {}) => ({
  ...{ status, body: { error, error_description }, type: 'application/json; charset=utf-8', caching: 'no-store' },
  headers,
});

export const CODE_REFUSED = refused(400, 'invalid_grant', 'the code is not valid');
export const tokenRefused = (
  scheme: 'Bearer' | 'DPoP',
  description = 'the access token is not valid',
  headers: object = {},
) => refused(401, 'invalid_token', description, { ...challengeOf(scheme, 'invalid_token', description), ...headers });

/** Members of an answer to a browser: a page, or a redirection to the wallet. */
export const shown = async (answer: Response) => {
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

export const onPage = (error: string, description: string) => ({
  ...{ status: 400, caching: 'no-store', referrer: 'no-referrer', type: 'text/html; charset=utf-8' },
  ...{ error, description },
});

export const atWallet = (error: string, error_description: string, state: string | null | undefined, at = tenant) => ({
  ...{ status: 302, caching: 'no-store', referrer: 'no-referrer', to: BACK },
  parameters: { error, error_description, state, iss: at.url },
});

export const post = (path: string, body: unknown, at = tenant) =>
  new ApiClient(at.url).request<OAuthFault>('POST', path, { body });

export const openAuthorization = (query: string | URLSearchParams, at = tenant) =>
  new RedirectBrowser().openUrl(`${at.url}/v1/oauth/authorize?${query}`);

export interface Offered {
  id: string;
  code: string;
  transactionCode?: string;
}

export const offer = async (more: object = {}, at = tenant): Promise<Offered> => {
  const credentials = [at === strict ? strictPass : ids['Pass']!];
  const { id, uri, transactionCode } = expectStatus(await at.api.offers.create({ credentials, ...more }), 200);
  const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  const { 'pre-authorized_code': code } = grants[PRE_AUTHORIZED]!;
  return { id, code, ...(transactionCode !== undefined && { transactionCode }) };
};

export const preAuthorized = (code: string, more: Record<string, string> = {}) => ({
  ...{ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code },
  ...{ code: undefined, redirect_uri: undefined, code_verifier: undefined, client_id: undefined },
  ...more,
});

/** By a public client. */
export const redeem = (code: string, more: Record<string, string> = {}) =>
  wallet.exchange('', preAuthorized(code, more), NONE);

export const bearerToken = async (type = 'Pass', more: object = {}) =>
  expectStatus(await redeem((await offer({ credentials: [ids[type]!], ...more })).code), 200).access_token;

/** Signs in up to the callback of the provider, or to another address; without a login the person cancels. */
export const begin = async (
  more: { login_hint?: undefined } = {},
  until = `${tenant.url}/v1/oauth/authentication/callback`,
) => {
  const browser = new RedirectBrowser();
  const parameters = wallet.parameters(SCOPE, more);
  const callback = await browser.follow(wallet.authorizationUrl(parameters), (url) => url.startsWith(until));
  return { browser, callback, state: parameters['state'] };
};

export const ENDED = 'the sign-in has ended or was started in another browser; start again in the wallet';
export const detailsOf = (id: string) =>
  JSON.stringify([{ type: 'openid_credential', credential_configuration_id: id }]);
/** Body of a credential request with a new key. */
export const requestOf = async (type: string, change: JwtChange = {}, more: object = {}) => ({
  credential_configuration_id: ids[type]!,
  proofs: { jwt: [await wallet.keyProof(await makeHolderKey(), change)] },
  ...more,
});

/** With `token` and without a DPoP proof, unless `headers` has others. */
export const collect = (token: string, body: object | string, headers: Record<string, string | null> = {}) =>
  wallet.requestCredential(token, body, { authorization: `Bearer ${token}`, dpop: null, ...headers });

/** Another value of the same form. */
export const changed = (value: string) => `${value.slice(0, -2)}${value.endsWith('AA') ? 'BA' : 'AA'}`;

/** Token of a pre-authorized code, bound to the key of `wallet`. */
export const boundToken = async () => {
  const sent = { ...NONE, dpop: await wallet.dpop(TOKEN) };
  return expectStatus(await wallet.exchange('', preAuthorized((await offer()).code), sent), 200).access_token;
};

const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
/** The JWS with other header parameters, and the signature of the former ones. */
export const withHeader = (jws: string, change: object) =>
  [encoded({ ...decodeProtectedHeader(jws), ...change }), ...jws.split('.').slice(1)].join('.');
