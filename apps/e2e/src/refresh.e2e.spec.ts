import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  registerWallet,
  startPlatform,
  TENANT_CLIENT,
  waitUntil,
  Wallet,
  type HolderKey,
  type RunningPlatform,
  type TenantUnderTest,
} from '@attestry/testing';
import { SignJWT } from 'jose';
import * as oidc from 'openid-client';

const CLIENT = 'refreshing-wallet';
const BACK = 'https://refreshing-wallet.example/back';
const scope = 'jwt_vc_json:Renewed';
const verifier = randomBytes(32).toString('base64url');

let platform: RunningPlatform;
let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let configuration: string;

const makeTenant = async (name: string) => {
  const made = await createTenantUnderTest(platform, await connectManagement(platform), name);
  await registerWallet(made.api, CLIENT, BACK);
  expectStatus(
    await made.api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  expectStatus(await made.api.dids.create({ method: 'web', options: { url: made.host } }), 201);
  const request = {
    ...{ type: 'Renewed', name: 'Renewed', issuer: { name: 'City' } },
    claimMappings: { given_name: { mapFrom: 'claims.given_name', required: true } },
  };
  return { made, id: expectStatus(await made.api.jwtVc.create(request), 201).id };
};

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
  platform = await startPlatform();
  ({ made: tenant, id: configuration } = await makeTenant('refreshing'));
  ({ made: other } = await makeTenant('refreshing-too'));
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
  await platform?.stop();
});

const dpopOf = (key: HolderKey, path: string, at = tenant, claims: object = {}) =>
  new SignJWT({
    iat: Math.floor(Date.now() / 1000),
    jti: randomUUID(),
    htm: 'POST',
    htu: `${at.url}${path}`,
    ...claims,
  })
    .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.publicJwk })
    .sign(key.privateKey);
const post = async (path: string, form: Record<string, string>, key?: HolderKey, at = tenant) =>
  new ApiClient(at.url).request<Record<string, string>>('POST', path, {
    body: new URLSearchParams(form),
    ...(key && { headers: { DPoP: await dpopOf(key, path, at) } }),
  });
/** Tokens of a person who signed in, and their key. */
const begin = async (client = CLIENT, back = BACK, at = tenant) => {
  const key = await makeHolderKey();
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: client, redirect_uri: back, scope, login_hint: 'zoe' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const opened = `${at.url}/v1/oauth/authorize?${query}`;
  const code = (await new RedirectBrowser().follow(opened, (url) => url.startsWith(back))).searchParams.get('code')!;
  const form = { grant_type: 'authorization_code', client_id: client, redirect_uri: back, code_verifier: verifier };
  const body = expectStatus(await post('/v1/oauth/token', { ...form, code }, key, at), 200);
  return { key, client, accessToken: body['access_token']!, refreshToken: body['refresh_token']! };
};
type Begun = Awaited<ReturnType<typeof begin>>;
const refresh = ({ key, client, refreshToken }: Begun, at = tenant) =>
  post('/v1/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: refreshToken }, key, at);
const refreshed = async (begun: Begun) => expectStatus(await refresh(begun), 200)['access_token']!;
const collect = async ({ key }: Begun, accessToken: string, at = tenant) => {
  const { body: nonce } = await new ApiClient(at.url).request<{ c_nonce: string }>('POST', '/v1/openid/nonce', {});
  const proof = await new SignJWT({ aud: at.url, iat: Math.floor(Date.now() / 1000), nonce: nonce.c_nonce })
    .setProtectedHeader({ typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: key.publicJwk })
    .sign(key.privateKey);
  const path = '/v1/openid/credential';
  const ath = createHash('sha256').update(accessToken).digest('base64url');
  const { status, body, headers } = await new ApiClient(at.url).request<Record<string, unknown>>('POST', path, {
    body: { credential_configuration_id: configuration, proofs: { jwt: [proof] } },
    headers: { authorization: `DPoP ${accessToken}`, DPoP: await dpopOf(key, path, at, { ath }) },
  });
  return { status, error: body['error'], challenge: headers.get('www-authenticate') };
};
const ENDED = { status: 401, error: 'invalid_token', challenge: expect.stringMatching(/^DPoP error="invalid_token"/) };
const refusalOf = ({ status, body }: Awaited<ReturnType<typeof post>>) => [status, body['error']];

describe('third-party wallets', () => {
  it('refresh with their DPoP key and collect the credential again [T351]', async () => {
    const wallet = new Wallet(CLIENT, undefined, await makeHolderKey());
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [configuration] }), 200);
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    const browser = new RedirectBrowser();
    const options = { browser, redirectUri: BACK, scope, parameters: { login_hint: 'zoe' } };
    const token = await wallet.authorizedToken(offer, metadata, options);
    for (let times = 0; times < 2; times++) {
      const again = await wallet.refreshedToken(metadata, token.refresh_token!);
      expect([again.token_type, again.scope, again.refresh_token]).toEqual(['DPoP', scope, undefined]);
      const credentials = await wallet.credentials(metadata, again.access_token, configuration, [
        await makeHolderKey(),
      ]);
      expect(credentials).toEqual([expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/)]);
    }
  });

  it('of another maker refresh and revoke by the metadata [T351] [T361] [T363]', async () => {
    const metadata = expectStatus(
      await new ApiClient(tenant.url).request<oidc.ServerMetadata>('GET', '/.well-known/oauth-authorization-server'),
      200,
    );
    expect(metadata).toMatchObject({
      grant_types_supported: expect.arrayContaining(['refresh_token']),
      revocation_endpoint: `${tenant.url}/v1/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: ['none', 'attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
    });
    const client = new oidc.Configuration(metadata, CLIENT, undefined, oidc.None());
    // localhost has no certificates, and its names need not resolve.
    oidc.allowInsecureRequests(client);
    client[oidc.customFetch] = hostFetch as unknown as oidc.CustomFetch;
    const DPoP = oidc.getDPoPHandle(client, await oidc.randomDPoPKeyPair('ES256'));
    const url = await oidc.buildAuthorizationUrlWithPAR(
      client,
      {
        ...{ redirect_uri: BACK, scope, login_hint: 'zoe', code_challenge_method: 'S256' },
        code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      },
      { DPoP },
    );
    const back = await new RedirectBrowser().follow(url.href, (at) => at.startsWith(BACK));
    const tokens = await oidc.authorizationCodeGrant(client, back, { pkceCodeVerifier: verifier }, undefined, { DPoP });
    const again = await oidc.refreshTokenGrant(client, tokens.refresh_token!, undefined, { DPoP });
    expect([again.token_type, again.scope]).toEqual(['dpop', scope]);
    const stolen = oidc.getDPoPHandle(client, await oidc.randomDPoPKeyPair('ES256'));
    await expect(
      oidc.refreshTokenGrant(client, tokens.refresh_token!, undefined, { DPoP: stolen }),
    ).rejects.toMatchObject({ error: 'invalid_grant', status: 400 });
    await oidc.tokenRevocation(client, tokens.refresh_token!, { token_type_hint: 'refresh_token' });
    await expect(oidc.refreshTokenGrant(client, tokens.refresh_token!, undefined, { DPoP })).rejects.toMatchObject({
      ...{ error: 'invalid_grant', status: 400 },
      error_description: 'the refresh token is not valid',
    });
  });
});

describe('a refresh token', () => {
  it('is of one tenant, and so are its access tokens [T366]', async () => {
    const begun = await begin();
    const accessToken = await refreshed(begun);
    expect(refusalOf(await refresh(begun, other))).toEqual([400, 'invalid_grant']);
    expect(await collect(begun, accessToken, other)).toEqual(ENDED);
    const form = { token: begun.refreshToken, client_id: CLIENT };
    expectStatus(await post('/v1/oauth/revoke', form, undefined, other), 200);
    expect(await collect(begun, accessToken)).toMatchObject({ status: 200 });
    expect(refusalOf(await refresh(begun))).toEqual([200, undefined]);
  });

  it('of a wallet that is not registered ends with the setting that allowed it [T360]', async () => {
    const settings = (allowUnregisteredWallets: boolean | null) =>
      tenant.api.client.request('PUT', '/v1/openid/configuration', { body: { allowUnregisteredWallets } });
    expectStatus(await settings(true), 200);
    const begun = await begin('unknown-wallet', 'https://unknown-wallet.example/back');
    await refreshed(begun);
    expectStatus(await settings(false), 200);
    // Another process may believe for a second that the tenant never saved settings.
    const refused = async () => {
      const answer = await refresh(begun);
      return answer.status !== 200 && refusalOf(answer);
    };
    expect(await waitUntil(refused, { what: 'the end of the setting' })).toEqual([400, 'unauthorized_client']);
    expectStatus(await settings(null), 200);
    await refreshed(begun);
  });

  it('of a wallet that is not registered is not one of the wallet that is registered later [T494]', async () => {
    const begun = await begin('later-wallet', 'https://stranger.example/back');
    await refreshed(begun);
    await registerWallet(tenant.api, 'later-wallet', 'https://later-wallet.example/back');
    expect(refusalOf(await refresh(begun))).toEqual([400, 'invalid_grant']);
    const form = { token: begun.refreshToken, client_id: 'later-wallet' };
    expectStatus(await post('/v1/oauth/revoke', form, undefined), 200);
    expect(await collect(begun, begun.accessToken)).toEqual(ENDED);
  });

  it('ends with its wallet, and the tokens of the exchange do, too [T360]', async () => {
    const { id } = await registerWallet(tenant.api, 'deleted-wallet', 'https://deleted-wallet.example/back');
    const begun = await begin('deleted-wallet', 'https://deleted-wallet.example/back');
    expectStatus(await tenant.api.wallets.delete(id), 204);
    expect(refusalOf(await refresh(begun))).toEqual([401, 'invalid_client']);
    // A job ends them, every 10 s.
    await waitUntil(async () => (await collect(begun, begun.accessToken)).status === 401, {
      what: 'the end of the access token',
    });
  }, 60_000);

  it(
    'and its access tokens work after a restart, also to end them [T366]',
    async () => {
      const [kept, revoked] = [await begin(), await begin()];
      const [accessToken, ended] = [await refreshed(kept), await refreshed(revoked)];
      await platform.end('SIGKILL');
      await platform.restart();
      expect(await collect(kept, accessToken)).toMatchObject({ status: 200 });
      expect(await collect(kept, await refreshed(kept))).toMatchObject({ status: 200 });
      expectStatus(await post('/v1/oauth/revoke', { token: revoked.refreshToken, client_id: CLIENT }), 200);
      expect(await collect(revoked, ended)).toEqual(ENDED);
      expect(await collect(revoked, revoked.accessToken)).toEqual(ENDED);
      expect(refusalOf(await refresh(revoked))).toEqual([400, 'invalid_grant']);
    },
    PLATFORM_START_MS,
  );
});

describe('the revocation endpoint', () => {
  it('answers with an empty object that is not stored, and leaves a record of known tokens [T361]', async () => {
    const begun = await begin();
    const { status, headers, body } = await post('/v1/oauth/revoke', { token: begun.accessToken, client_id: CLIENT });
    expect([status, headers.get('cache-control'), body]).toEqual([200, 'no-store', {}]);
    expect(await collect(begun, begun.accessToken)).toEqual(ENDED);
    await waitUntil(
      async () => {
        const { body: listed } = await tenant.api.client.request<{ data: { type: string }[] }>('GET', '/v1/events', {
          query: { types: 'OPENID_REVOKE_SUCCESS' },
        });
        return JSON.stringify(listed).includes('OPENID_REVOKE_SUCCESS');
      },
      { what: 'the record of the revocation' },
    );
  });

  it('refuses other methods, media types and large bodies [T362]', async () => {
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const answer = await hostFetch(`${tenant.url}/v1/oauth/revoke`, { method });
      expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, 'POST']);
    }
    const json = await new ApiClient(tenant.url).request<Record<string, string>>('POST', '/v1/oauth/revoke', {
      body: { token: 'x' },
    });
    expect([json.status, json.body['error']]).toEqual([400, 'invalid_request']);
    for (const [length, expected] of [
      [16_385, 400],
      [66_000, 413],
    ] as const)
      expect((await post('/v1/oauth/revoke', { token: 'x'.repeat(length) })).status).toBe(expected);
  });
});
