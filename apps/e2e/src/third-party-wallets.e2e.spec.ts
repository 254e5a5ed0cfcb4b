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
  sharedPlatform,
  TENANT_CLIENT,
  verifyJwtVc,
  verifySdJwt,
  Wallet,
  WalletProvider,
  type TenantUnderTest,
  type TokenAnswer,
} from '@attestry/testing';
import { SignJWT } from 'jose';
import * as oidc from 'openid-client';

const SEPARATE = 'https://separate-proof.example';
const COMBINED = 'https://combined-proof.example';
const PUBLIC = 'https://public-client.example';
const SCOPE = 'jwt_vc_json:Diploma dc+sd-jwt:Badge';
const NAME = { given_name: 'Zoë' };
const back = (clientId: string) => `${clientId}/back`;

let provider: OpenIdProvider;
let attester: WalletProvider;
let tenant: TenantUnderTest;
let diploma: string;
let badge: string;

beforeAll(async () => {
  [provider, attester] = await Promise.all([
    OpenIdProvider.start('https://management.example'),
    WalletProvider.create(),
  ]);
  provider.accounts.set('zoe', { sub: 'zoe', ...NAME });
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'third-party');
  const { api } = tenant;
  expectStatus(
    await api.openIdConfiguration.update({
      ...{ requirePushedAuthorizationRequests: true, allowUnregisteredWallets: false, dpopNonceRequired: true },
    }),
    200,
  );
  for (const clientId of [SEPARATE, COMBINED])
    expectStatus(
      await api.attestedWallets.create({
        ...{ name: clientId, clientId, redirectUris: [back(clientId)] },
        ...{ rootCertificates: [attester.rootCertificate], dpopRequired: clientId === COMBINED },
      }),
      201,
    );
  const registered = { name: PUBLIC, clientId: PUBLIC, redirectUris: [back(PUBLIC)], dpopRequired: true };
  expectStatus(await api.wallets.create(registered), 201);
  expectStatus(
    await api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const claimMappings = { given_name: { mapFrom: 'claims.given_name' }, degree: { mapFrom: 'claims.degree' } };
  const request = (type: string) => ({ type, name: type, issuer: { name: 'College' }, claimMappings });
  diploma = expectStatus(await api.jwtVc.create(request('Diploma')), 201).id;
  badge = expectStatus(await api.sdJwt.create(request('Badge')), 201).id;
}, PLATFORM_START_MS);
afterAll(() => provider?.stop());

/**
 * Features that `@openid4vc/openid4vci` and `@openid4vc/oauth2` 0.4.6 lack, and what is done instead:
 * - requests by `credential_identifier`: it makes the key proof and sends the request, whose body the test makes;
 * - encrypted requests and responses (its `credential_response_encryption` requires the `alg` of drafts before 1.0): `jose` encrypts and
 * decrypts;
 * - the mode in which the DPoP proof is the proof of possession of the attested key: its callback for client authentication sends the
 * attestation;
 * - the challenge endpoint: no challenge is sent, which the issuer does not demand;
 * - `state` in an authorization request that it makes from an offer: it makes the request from the parts of the offer.
 */
describe('@openid4vc/openid4vci', () => {
  const credentials = () => [
    {
      credentialConfigurationId: diploma,
      claimSets: [
        { identifier: 'bachelor', claims: { degree: 'Bachelor' } },
        { identifier: 'master', claims: { degree: 'Master' } },
      ],
    },
    { credentialConfigurationId: badge, claimSets: [{ identifier: 'swimmer', claims: { degree: 'Swimmer' } }] },
  ];
  const EXPECTED = [
    { ...NAME, degree: 'Bachelor' },
    { ...NAME, degree: 'Master' },
    { ...NAME, degree: 'Swimmer' },
  ];

  it.each([SEPARATE, COMBINED])(
    'completes the code flow with PAR, DPoP, attestation, claim sets and encryption: %s [T490]',
    async (clientId) => {
      const [instanceKey, otherKey] = [await makeHolderKey(), await makeHolderKey()];
      const jwt = await attester.attest(clientId, instanceKey.publicJwk);
      const wallet =
        clientId === COMBINED
          ? new Wallet(clientId, undefined, instanceKey, { jwt })
          : new Wallet(clientId, undefined, otherKey, { jwt, key: instanceKey });
      const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: credentials() }), 200);
      const offer = await wallet.resolveOffer(uri);
      expect(offer.grants).toEqual({ authorization_code: { issuer_state: expect.any(String) } });
      const metadata = await wallet.metadata(offer.credential_issuer);
      const browser = new RedirectBrowser();
      const token = await wallet.authorizedToken(offer, metadata, {
        ...{ browser, redirectUri: back(clientId), scope: SCOPE, parameters: { login_hint: 'zoe' } },
      });
      expect([...new URL(browser.visited[0]!).searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
      expect(browser.visited.some((url) => url.startsWith(`${provider.issuer}/auth?`))).toBe(true);

      const collect = async ({ token_type, access_token, authorization_details }: TokenAnswer) => {
        expect(token_type).toBe('DPoP');
        const subjects: Record<string, unknown>[] = [];
        for (const { credential_configuration_id: id, credential_identifiers } of authorization_details!)
          for (const identifier of credential_identifiers) {
            const key = await makeHolderKey();
            const credential = await wallet.credentialByIdentifier(metadata, access_token, id, identifier, key, {
              encrypted: true,
            });
            subjects.push(await subjectOf(credential as string, key));
          }
        return subjects;
      };
      expect(await collect(token)).toEqual(EXPECTED);
      const refreshed = await wallet.refreshedToken(metadata, token.refresh_token!);
      expect(refreshed.authorization_details).toEqual(token.authorization_details);
      expect(await collect(refreshed)).toEqual(EXPECTED);
    },
  );

  /** Verified. */
  const subjectOf = async (credential: string, key: Awaited<ReturnType<typeof makeHolderKey>>) => {
    const { given_name, degree } = credential.includes('~')
      ? (await verifySdJwt(credential, key)).payload
      : ((await verifyJwtVc(credential)).payload.vc!['credentialSubject'] as Record<string, unknown>);
    return { given_name, degree };
  };
});

/** `openid-client` 6.8.9 lacks OpenID4VCI and client attestation: the test makes the credential request, which it sends, and `jose` the key proof. */
describe('openid-client', () => {
  it('completes the code flow with PAR and DPoP [T295] [T490]', async () => {
    const client = await oidc.discovery(new URL(tenant.url), PUBLIC, undefined, oidc.None(), {
      algorithm: 'oauth2',
      // localhost has no certificates, and its names need not resolve.
      execute: [oidc.allowInsecureRequests],
      [oidc.customFetch]: hostFetch as unknown as oidc.CustomFetch,
    });
    const DPoP = oidc.getDPoPHandle(client, await oidc.randomDPoPKeyPair('ES256'));
    const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
    const parameters = {
      ...{ redirect_uri: back(PUBLIC), scope: SCOPE, state: expectedState, login_hint: 'zoe' },
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    };
    const url = await oidc.buildAuthorizationUrlWithPAR(client, parameters, { DPoP });
    expect([...url.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri']);
    const redirected = await new RedirectBrowser().follow(url.href, (at) => at.startsWith(PUBLIC));
    const checks = { pkceCodeVerifier, expectedState };
    const token = await oidc.authorizationCodeGrant(client, redirected, checks, undefined, { DPoP });
    expect([token.token_type, token.scope]).toEqual(['dpop', SCOPE]);

    const key = await makeHolderKey();
    const { body: nonce } = await new ApiClient(tenant.url).request<{ c_nonce: string }>('POST', '/v1/openid/nonce');
    const proof = await new SignJWT({ aud: tenant.url, iat: Math.floor(Date.now() / 1000), nonce: nonce.c_nonce })
      .setProtectedHeader({ typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: key.publicJwk })
      .sign(key.privateKey);
    const answer = await oidc.fetchProtectedResource(
      client,
      token.access_token,
      new URL(`${tenant.url}/v1/openid/credential`),
      'POST',
      JSON.stringify({ credential_configuration_id: badge, proofs: { jwt: [proof] } }),
      new Headers({ 'content-type': 'application/json' }),
      { DPoP },
    );
    const { credentials } = (await answer.json()) as { credentials: { credential: string }[] };
    expect((await verifySdJwt(credentials[0]!.credential, key)).payload).toMatchObject(NAME);
  });
});
