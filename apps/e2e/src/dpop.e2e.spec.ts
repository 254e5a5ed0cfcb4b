import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  RedirectBrowser,
  sharedPlatform,
  TENANT_CLIENT,
  Wallet,
  type TenantUnderTest,
} from '@attestry/testing';
import { SignJWT, type JWK } from 'jose';

const BACK = 'https://bound-wallet.example/back';
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let pass: string;
beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'dpop-college');
  expectStatus(
    await tenant.api.authenticationProviders.create({
      url: provider.issuer,
      ...TENANT_CLIENT,
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  const { did } = expectStatus(await tenant.api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const request = {
    type: 'Pass',
    name: 'Pass',
    issuer: { name: 'College' },
    issuerDid: did,
    claimMappings: { name: { mapFrom: 'claims.given_name' } },
  };
  pass = expectStatus(await tenant.api.jwtVc.create(request), 201).id;
}, PLATFORM_START_MS);
afterAll(async () => {
  await provider?.stop();
});

const offerUri = async () => expectStatus(await tenant.api.offers.create({ credentials: [pass] }), 200).uri;

describe('a third-party wallet that binds its tokens to a DPoP key', () => {
  it('redeems a pre-authorized offer, and uses the token for several credentials [T87] [T253] [T256]', async () => {
    const wallet = new Wallet(undefined, undefined, await makeHolderKey());
    const { accessToken, credentials, metadata } = await wallet.collect(await offerUri());
    expect(metadata.authorizationServers[0]!.dpop_signing_alg_values_supported).toEqual(['ES256']);
    expect(credentials).toHaveLength(1);
    expect(await wallet.credentials(metadata, accessToken, pass, [await makeHolderKey()])).toHaveLength(1);
    // The library of another wallet, with the same token and another key.
    const thief = new Wallet(undefined, undefined, await makeHolderKey());
    await expect(thief.credentials(metadata, accessToken, pass, [await makeHolderKey()])).rejects.toThrow();
    await expect(new Wallet().credentials(metadata, accessToken, pass, [await makeHolderKey()])).rejects.toThrow();
    expect(await wallet.credentials(metadata, accessToken, pass, [await makeHolderKey()])).toHaveLength(1);
  });

  it('completes the code flow with a pushed request [T87] [T240] [T253]', async () => {
    provider.accounts.set('zoe', { sub: 'zoe', given_name: 'Zoë' });
    const wallet = new Wallet('bound-wallet', undefined, await makeHolderKey());
    const offer = await wallet.resolveOffer(
      expectStatus(await tenant.api.offers.createOpen({ credentials: [pass] }), 200).uri,
    );
    const metadata = await wallet.metadata(offer.credential_issuer);
    const browser = new RedirectBrowser();
    const begun: string[] = [];
    const follow = browser.follow.bind(browser);
    browser.follow = (url, isEnd) => {
      begun.push(url);
      return follow(url, isEnd);
    };
    const token = await wallet.authorizedToken(offer, metadata, {
      browser,
      redirectUri: BACK,
      scope: 'jwt_vc_json:Pass',
      parameters: { login_hint: 'zoe' },
    });
    // The key was named where the request was pushed.
    expect([...new URL(begun[0]!).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    expect(token.token_type).toBe('DPoP');
    expect(await wallet.credentials(metadata, token.access_token, pass, [await makeHolderKey()])).toHaveLength(1);
  });
});

describe('DPoP over HTTP', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const jwk = publicKey.export({ format: 'jwk' }) as JWK;
  const prove = (path: string, claims: object = {}) =>
    new SignJWT({
      htm: 'POST',
      htu: `${tenant.url}${path}`,
      jti: randomUUID(),
      iat: Math.floor(Date.now() / 1000),
      ...claims,
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk })
      .sign(privateKey);
  const codeOf = (uri: string) => {
    const { grants } = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
      grants: Record<string, { 'pre-authorized_code': string }>;
    };
    return grants[PRE_AUTHORIZED]!['pre-authorized_code'];
  };
  const redeem = async (code: string, headers: Record<string, string>) => {
    const answer = await hostFetch(`${tenant.url}/v1/oauth/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code }),
    });
    return {
      status: answer.status,
      headers: answer.headers,
      body: JSON.parse((await answer.text()) || '{}') as Record<string, string>,
    };
  };

  it('accepts a proof once, whichever replicas concurrent requests reach [T252]', async () => {
    const dpop = await prove('/v1/oauth/token');
    const codes = await Promise.all(Array.from({ length: 8 }, async () => codeOf(await offerUri())));
    const answers = await Promise.all(codes.map((code) => redeem(code, { dpop })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { status, body, headers } of answers) {
      expect(headers.get('dpop-nonce')).toMatch(/\./);
      if (status !== 200)
        expect([status, body]).toEqual([
          400,
          { error: 'invalid_dpop_proof', error_description: 'the DPoP proof has already been used' },
        ]);
    }
  });

  it('takes one header, and an empty one as an invalid proof [T241]', async () => {
    const code = codeOf(await offerUri());
    const refused = { error: 'invalid_dpop_proof', error_description: 'DPoP proof: must be a compact JWS' };
    const two = new Headers();
    two.append('dpop', await prove('/v1/oauth/token'));
    two.append('dpop', await prove('/v1/oauth/token'));
    for (const headers of [{ dpop: '' }, Object.fromEntries(two)]) {
      const { status, body } = await redeem(code, headers);
      expect([status, body]).toEqual([400, refused]);
    }
    expect((await redeem(code, { dpop: await prove('/v1/oauth/token') })).body['token_type']).toBe('DPoP');
  });

  it('refuses headers that are too long before it reads them [T241]', async () => {
    const { status, body } = await redeem(codeOf(await offerUri()), { dpop: 'x'.repeat(50_000) });
    expect([status, body.error]).toEqual([431, 'invalid_request']);
    expect(await redeem(codeOf(await offerUri()), { dpop: 'x'.repeat(20_000) })).toMatchObject({
      status: 400,
      body: { error_description: 'DPoP proof: must have at most 16384 characters' },
    });
  });

  it('refuses a bound token as Bearer, with a challenge for DPoP, and offers a nonce [T87] [T254] [T255]', async () => {
    const { body } = await redeem(codeOf(await offerUri()), { dpop: await prove('/v1/oauth/token') });
    const token = body['access_token']!;
    const collect = async (headers: Record<string, string>) =>
      hostFetch(`${tenant.url}/v1/openid/credential`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{}',
      });
    const bearer = await collect({ authorization: `Bearer ${token}` });
    expect([bearer.status, bearer.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringMatching(/^DPoP error="invalid_token", error_description=".+", algs="ES256"$/),
    ]);
    const ath = createHash('sha256').update(token).digest('base64url');
    const dpop = await prove('/v1/openid/credential', { ath });
    const malformed = await collect({ authorization: `dpop ${token}`, dpop });
    expect([malformed.status, malformed.headers.get('dpop-nonce')]).toEqual([400, expect.stringMatching(/\./)]);
    const again = await collect({ authorization: `DPoP ${token}`, dpop });
    expect([again.status, ((await again.json()) as { error: string }).error]).toEqual([401, 'invalid_dpop_proof']);
    expect(again.headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof"/);

    const nonce = await hostFetch(`${tenant.url}/v1/openid/nonce`, { method: 'POST' });
    expect(nonce.headers.get('dpop-nonce')).toMatch(/\./);
    expect(nonce.headers.get('content-type')).toMatch(/^application\/json/);
    expect(await nonce.json()).toEqual({ c_nonce: expect.any(String) });
  });
});
