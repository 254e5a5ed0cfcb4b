import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  DOMAIN_SERVERS_HOOK,
  DomainServer,
  expectStatus,
  hostFetch,
  makeHolderKey,
  PLATFORM_START_MS,
  RedirectBrowser,
  startPlatformProcess,
  TENANT_CLIENT,
  verifyCwt,
  verifyJwtVc,
  verifyLdpVc,
  verifyMdoc,
  verifySdJwt,
  waitUntil,
  Wallet,
  WalletProvider,
  type Answer,
  type HolderKey,
  type PlatformProcess,
  type TenantUnderTest,
} from '@attestry/testing';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { decodeJwt, SignJWT, type JWTPayload } from 'jose';
import * as oidc from 'openid-client';
import { closeSurroundings, openSurroundings, type Surroundings } from './surroundings.js';

const DOMAIN = 'college.example';
const NAME = `http://${DOMAIN}`;
const CLIENT = 'https://wallet.example';
const ATTESTED = 'https://attested.example';
const BACK = `${CLIENT}/back`;
const HOOK = 'https://hook.example.com/visit';
const DOC_TYPE = 'org.example.licence';
const PATHS = ['/.well-known/openid-credential-issuer', '/.well-known/jwt-vc-issuer'];
const claims = { given_name: 'Zoë' };

let surroundings: Surroundings;
let platform: PlatformProcess;
let tenant: TenantUnderTest;
let attester: WalletProvider;
let server: DomainServer;
let iaca: string;
/** Configuration by format. */
let formats: Record<string, string>;

const verifyDomain = async () => {
  await tenant.api.customDomain.delete();
  const request = { name: 'College', logoUrl: 'https://cdn.example/logo.png', domain: DOMAIN };
  const { verificationToken } = expectStatus(await tenant.api.customDomain.create(request), 201);
  surroundings.dns.set(DOMAIN, verificationToken);
  expectStatus(await tenant.api.customDomain.verify(), 204);
};
const rename = (issuerName: 'host' | 'domain') => tenant.api.openIdConfiguration.update({ issuerName });
const issuerName = async () => expectStatus(await tenant.api.openIdConfiguration.retrieve(), 200).issuerName;

beforeAll(async () => {
  surroundings = await openSurroundings();
  attester = await WalletProvider.create();
  platform = await startPlatformProcess({ env: surroundings.env, preload: DOMAIN_SERVERS_HOOK });
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'college');
  const { provider } = surroundings;
  provider.accounts.set('zoe', { sub: 'zoe', ...claims });
  const { api } = tenant;
  const forwarded = { forwardedRequestParameters: ['login_hint'] };
  expectStatus(await api.authenticationProviders.create({ url: provider.issuer, ...TENANT_CLIENT, ...forwarded }), 201);
  expectStatus(await api.wallets.create({ name: 'Wallet', clientId: CLIENT, redirectUris: [BACK] }), 201);
  expectStatus(
    await api.attestedWallets.create({
      ...{ name: 'Attested', clientId: ATTESTED, rootCertificates: [attester.rootCertificate], dpopRequired: false },
    }),
    201,
  );
  expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const claimMappings = { given_name: { mapFrom: 'claims.given_name' } };
  const json = (type: string) => ({ type, name: type, issuer: { name: 'College' }, claimMappings });
  const { id, certificatePem } = expectStatus(await api.iacas.create({}), 201);
  expectStatus(await api.iacas.update(id, true), 200);
  iaca = certificatePem;
  const made: Record<string, Promise<Answer<{ id: string }>>> = {
    jwt_vc_json: api.jwtVc.create(json('Diploma')),
    ldp_vc: api.webSemantic.create(json('Diploma')),
    'dc+sd-jwt': api.sdJwt.create({ ...json('Badge'), revocable: true }),
    cwt: api.compact.create({ type: 'Ticket', claimMappings }),
    cwt_vc: api.compactSemantic.create({
      ...{ type: 'Award', claimMappings, contexts: ['https://university.example/award/v1'] },
    }),
    mso_mdoc: api.mobile.create({
      ...{ type: DOC_TYPE, expiresIn: { days: 30 } },
      claimMappings: { 'org.example.1': claimMappings },
    }),
  };
  formats = Object.fromEntries(
    await Promise.all(
      Object.entries(made).map(async ([format, answer]) => [format, expectStatus(await answer, 201).id] as const),
    ),
  );
  await verifyDomain();
  server = await DomainServer.start(platform, DOMAIN, PATHS);
  await waitUntil(async () => (await hostFetch(`${NAME}${PATHS[1]!}`)).ok, { what: 'the keys at the domain' });
}, PLATFORM_START_MS);
afterAll(async () => {
  await server?.stop();
  await platform?.stop();
  await closeSurroundings();
});

const offer = async () => {
  const credentials = Object.values(formats);
  return expectStatus(await tenant.api.offers.create({ credentials, claims }), 200);
};

/** Verified, and `iss` of `dc+sd-jwt`. */
const verifyEach = async (found: Record<string, string | Record<string, unknown>>, key: HolderKey) => {
  expect((await verifyJwtVc(found['jwt_vc_json'] as string)).payload.vc!['credentialSubject']).toMatchObject(claims);
  await verifyLdpVc(found['ldp_vc'] as Record<string, unknown>);
  await verifyCwt(found['cwt'] as string);
  await verifyCwt(found['cwt_vc'] as string);
  const mdoc = { docType: DOC_TYPE, deviceKey: key.privateKey, iacas: [iaca] };
  expect(await verifyMdoc({ credential: found['mso_mdoc'] as string, ...mdoc })).toEqual({ 'org.example.1': claims });
  const sdJwt = found['dc+sd-jwt'] as string;
  const { status_list: list } = decodeJwt(sdJwt.split('~', 1)[0]!)['status'] as { status_list: { uri: string } };
  expect(list.uri).toMatch(`${tenant.url}/`);
  await waitUntil(async () => (await hostFetch(list.uri)).ok, { what: 'the status list' });
  const { payload } = await verifySdJwt(sdJwt, key, undefined, tenant.url);
  expect(payload).toMatchObject({ ...claims, vct: `${tenant.url}/v1/openid/types/Badge/1` });
  return payload['iss'];
};

describe.each(['host', 'domain'] as const)(
  'a third-party wallet that starts at the domain, with issuerName %s',
  (name) => {
    beforeAll(async () => {
      expect(expectStatus(await rename(name), 200).issuerName).toBe(name);
    });

    it('collects every format with a pre-authorized code [T598]', async () => {
      const made = await offer();
      const wallet = new Wallet();
      const shown = await wallet.resolveOffer(made.uriByReference!);
      expect(shown.credential_issuer).toBe(name === 'domain' ? NAME : tenant.url);
      const started = { ...shown, credential_issuer: NAME };
      const metadata = await wallet.metadata(NAME);
      expect(metadata.credentialIssuer.credential_issuer).toBe(NAME);
      const token = await wallet.accessToken(started, metadata);
      const key = await makeHolderKey('ES256', 'jwk');
      const found: Record<string, string | Record<string, unknown>> = {};
      for (const [format, id] of Object.entries(formats))
        [found[format]] = (await wallet.credentials(metadata, token, id, [key])) as [string];
      expect(await verifyEach(found, key)).toBe(name === 'domain' ? NAME : tenant.url);
    }, 60_000);

    it('collects every format with an authorization code, whose response names the host as iss [T598] [T599]', async () => {
      const made = expectStatus(await tenant.api.offers.createOpen({ credentials: Object.values(formats) }), 200);
      const wallet = new Wallet(CLIENT);
      const shown = { ...(await wallet.resolveOffer(made.uri)), credential_issuer: NAME };
      const metadata = await wallet.metadata(NAME);
      expect(metadata.authorizationServers[0]!.issuer).toBe(tenant.url);
      const scope = Object.values(metadata.credentialIssuer.credential_configurations_supported)
        .map((it) => it.scope)
        .join(' ');
      const browser = new RedirectBrowser();
      const { access_token } = await wallet.authorizedToken(shown, metadata, {
        ...{ browser, redirectUri: BACK, scope, parameters: { login_hint: 'zoe' } },
      });
      const key = await makeHolderKey('ES256', 'jwk');
      const found: Record<string, string | Record<string, unknown>> = {};
      for (const [format, id] of Object.entries(formats))
        [found[format]] = (await wallet.credentials(metadata, access_token, id, [key])) as [string];
      expect(await verifyEach(found, key)).toBe(name === 'domain' ? NAME : tenant.url);
    }, 60_000);

    it('may be openid-client, which names the domain as the resource [T592] [T598]', async () => {
      const client = await oidc.discovery(new URL(tenant.url), CLIENT, undefined, oidc.None(), {
        algorithm: 'oauth2',
        execute: [oidc.allowInsecureRequests],
        [oidc.customFetch]: hostFetch as unknown as oidc.CustomFetch,
      });
      const DPoP = oidc.getDPoPHandle(client, await oidc.randomDPoPKeyPair('ES256'));
      const [pkceCodeVerifier, expectedState] = [oidc.randomPKCECodeVerifier(), oidc.randomState()];
      const locations = [NAME];
      const url = oidc.buildAuthorizationUrl(client, {
        ...{ redirect_uri: BACK, state: expectedState, login_hint: 'zoe', resource: NAME },
        authorization_details: JSON.stringify([
          { type: 'openid_credential', credential_configuration_id: formats['dc+sd-jwt'], locations },
        ]),
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
      const back = await new RedirectBrowser().follow(url.href, (at) => at.startsWith(BACK));
      const checks = { pkceCodeVerifier, expectedState };
      const token = await oidc.authorizationCodeGrant(client, back, checks, { resource: NAME }, { DPoP });
      expect(token['authorization_details']).toMatchObject([{ credential_configuration_id: formats['dc+sd-jwt'] }]);
      const refreshed = await oidc.refreshTokenGrant(client, token.refresh_token!, { resource: NAME }, { DPoP });
      expect(refreshed.access_token).toEqual(expect.any(String));
      await expect(
        oidc.refreshTokenGrant(client, token.refresh_token!, { resource: 'https://other.example' }, { DPoP }),
      ).rejects.toMatchObject({ error: 'invalid_target' });
    });
  },
);

describe('the authorization server has one name [T599]', () => {
  let key: HolderKey;
  beforeAll(async () => {
    key = await makeHolderKey();
    expectStatus(await rename('domain'), 200);
  });
  const sign = (typ: string, members: JWTPayload, header: object = {}) =>
    new SignJWT({ iat: Math.floor(Date.now() / 1000), jti: randomUUID(), ...members })
      .setProtectedHeader({ typ, alg: 'ES256', ...header })
      .sign(key.privateKey);
  const verifier = randomBytes(32).toString('base64url');
  const request = {
    ...{ response_type: 'code', client_id: CLIENT, redirect_uri: BACK, scope: 'jwt_vc_json:Diploma', state: 's' },
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    ...{ code_challenge_method: 'S256', login_hint: 'zoe' },
  };
  const push = async (clientId: string, headers: Record<string, string>) => {
    const body = new URLSearchParams({ ...request, client_id: clientId, redirect_uri: `${clientId}/back` });
    const { status, body: answer } = await new ApiClient(tenant.url).request<{ error?: string }>(
      ...(['POST', '/v1/oauth/par', { body, headers }] as const),
    );
    return [status, answer.error];
  };

  it('aud of a client attestation is the host', async () => {
    const pushed = async (aud: string) =>
      push(ATTESTED, {
        'OAuth-Client-Attestation': await attester.attest(ATTESTED, key.publicJwk),
        'OAuth-Client-Attestation-PoP': await sign('oauth-client-attestation-pop+jwt', { aud }),
      });
    expect(await pushed(tenant.url)).toEqual([201, undefined]);
    expect((await pushed(NAME))[0]).toBeGreaterThanOrEqual(400);
  });

  it('htu of a DPoP proof is at the host', async () => {
    const pushed = async (at: string) =>
      push(CLIENT, {
        DPoP: await sign('dpop+jwt', { htm: 'POST', htu: `${at}/v1/oauth/par` }, { jwk: key.publicJwk }),
      });
    expect(await pushed(tenant.url)).toEqual([201, undefined]);
    expect(await pushed(NAME)).toEqual([400, 'invalid_dpop_proof']);
  });

  it('aud of the token of the interaction hook is the host', async () => {
    const { interactionHook } = expectStatus(
      await tenant.api.openIdConfiguration.update({ interactionHook: { url: HOOK } }),
      200,
    );
    const secret = Buffer.from(interactionHook!.secret, 'base64');
    const outcome = async (aud: string) => {
      const browser = new RedirectBrowser();
      const start = `${tenant.url}/v1/oauth/authorize?${new URLSearchParams(request)}`;
      const visit = await browser.follow(start, (url) => url.startsWith('https://'));
      const { iss, state, redirectUrl } = decodeJwt(visit.searchParams.get('session_token')!);
      expect(iss).toBe(tenant.url);
      expect(redirectUrl).toMatch(`${tenant.url}/`);
      const result = await new SignJWT({ iss: HOOK, aud, state })
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setIssuedAt()
        .setExpirationTime('1m')
        .sign(secret);
      const answer = await browser.openUrl(`${String(redirectUrl)}?session_token=${result}`);
      return Object.fromEntries(new URL(answer.headers.get('location')!).searchParams);
    };
    expect(await outcome(tenant.url)).toEqual({ code: expect.any(String), state: 's', iss: tenant.url });
    expect(await outcome(NAME)).toMatchObject({
      ...{ error: 'access_denied', iss: tenant.url },
      error_description: expect.stringContaining('aud must be the credential issuer identifier'),
    });
    expectStatus(await tenant.api.openIdConfiguration.update({ interactionHook: null }), 200);
  });
});

describe('a domain that is not forwarded, or lost', () => {
  it('is not the name: the answer says what is at the domain [T594]', async () => {
    expectStatus(await rename('host'), 200);
    await server.stop();
    const other = await DomainServer.start(platform, DOMAIN, PATHS.slice(0, 1));
    const refused = await rename('domain');
    expect([refused.status, refused.body]).toMatchObject([
      400,
      {
        details: [
          {
            ...{ param: 'issuerName', location: 'body', value: 'domain' },
            msg: `must not be domain: ${NAME}/.well-known/jwt-vc-issuer was answered with status 404`,
          },
        ],
      },
    ]);
    await other.stop();
    server = await DomainServer.start(platform, DOMAIN, PATHS);
    expect(await issuerName()).toBe('host');
  });

  it('ends as the name, and what was issued under it is INVALID [T595] [T597]', async () => {
    expectStatus(await rename('domain'), 200);
    const wallet = new Wallet();
    const { credentials } = await wallet.collect(
      expectStatus(await tenant.api.offers.create({ credentials: [formats['dc+sd-jwt']!], claims }), 200).uri,
    );
    const { key } = credentials[0]!;
    const credential = credentials[0]!.credential as string;
    expect(decodeJwt(credential.split('~', 1)[0]!).iss).toBe(NAME);
    const before = await offer();
    expectStatus(await tenant.api.customDomain.delete(), 204);
    await waitUntil(async () => (await issuerName()) === 'host', { what: 'the name to end' });
    const after = await offer();
    expect((await wallet.resolveOffer(after.uri)).credential_issuer).toBe(tenant.url);
    const { access_token } = expectStatus(
      await new ApiClient(tenant.url).request<{ access_token: string }>('POST', '/v1/oauth/token', {
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:pre-authorized_code',
          'pre-authorized_code': (await wallet.resolveOffer(before.uri)).grants![
            'urn:ietf:params:oauth:grant-type:pre-authorized_code'
          ]!['pre-authorized_code'],
        }),
      }),
      200,
    );
    const metadata = await wallet.metadata(tenant.url);
    await expect(wallet.credentials(metadata, access_token, formats['dc+sd-jwt']!, [key])).rejects.toThrow();
    expect(await wallet.credentials(metadata, access_token, formats['jwt_vc_json']!, [key])).toHaveLength(1);
    // Verifiers find no keys at the domain.
    expect((await hostFetch(`${NAME}${PATHS[1]!}`)).status).toBe(404);
    await expect(verifySdJwt(credential, key, undefined, tenant.url)).rejects.toThrow();
  }, 60_000);
});
