import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  OpenIdProvider,
  PLATFORM_START_MS,
  platformMode,
  RedirectBrowser,
  sharedPlatform,
  TENANT_CLIENT,
  waitUntil,
  Wallet,
  WalletProvider,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';
import { createClient } from '@redis/client';
import { SignJWT, type JWK, type JWTPayload } from 'jose';

const SEPARATE = 'attested-wallet';
const COMBINED = 'attested-dpop-wallet';
const BACK = 'https://attested-wallet.example/back';
const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let provider: OpenIdProvider;
let tenant: TenantUnderTest;
let attester: WalletProvider;
let otherProvider: WalletProvider;
let configuration: string;
let key: HolderKey;

beforeAll(async () => {
  provider = await OpenIdProvider.start('https://management.example');
  provider.accounts.set('zoe', { sub: 'zoe' });
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'attested');
  [attester, otherProvider, key] = await Promise.all([
    WalletProvider.create(),
    WalletProvider.create(),
    makeHolderKey(),
  ]);
  const { api } = tenant;
  const register = async (clientId: string, dpopRequired: boolean, ...roots: WalletProvider[]) =>
    expectStatus(
      await api.attestedWallets.create({
        ...{ name: clientId, clientId, dpopRequired },
        // Without redirect URIs: an attested wallet may push any https address.
        rootCertificates: roots.map(({ rootCertificate }) => rootCertificate),
      }),
      201,
    );
  await register(COMBINED, true, attester);
  const wallet = await register(SEPARATE, false, otherProvider, attester);
  expectStatus(
    await api.attestedWallets.update(wallet.id, { ...wallet, rootCertificates: [attester.rootCertificate] }),
    200,
  );
  expectStatus(
    await api.authenticationProviders.create({
      ...{ url: provider.issuer, ...TENANT_CLIENT },
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  );
  expectStatus(await api.dids.create({ method: 'web', options: { url: tenant.host } }), 201);
  const request = { type: 'Attested', name: 'Attested', issuer: { name: 'City' }, claimMappings: {} };
  configuration = expectStatus(await api.jwtVc.create(request), 201).id;
}, PLATFORM_START_MS);
afterAll(() => provider?.stop());

const seconds = () => Math.floor(Date.now() / 1000);
const sign = (typ: string, claims: JWTPayload, by: HolderKey = key, header: { jwk?: JWK } = {}) =>
  new SignJWT({ iat: seconds(), jti: randomUUID(), ...claims })
    .setProtectedHeader({ typ, alg: 'ES256', ...header })
    .sign(by.privateKey);
const popOf = (claims: JWTPayload = {}, by?: HolderKey) =>
  sign('oauth-client-attestation-pop+jwt', { aud: tenant.url, ...claims }, by);
const dpopOf = (claims: JWTPayload = {}, by: HolderKey = key) =>
  sign('dpop+jwt', { htm: 'POST', htu: `${tenant.url}/v1/oauth/token`, ...claims }, by, { jwk: by.publicJwk });

const codeOf = async () => {
  const { uri } = expectStatus(await tenant.api.offers.create({ credentials: [configuration] }), 200);
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, { 'pre-authorized_code': string }>;
  };
  return offer.grants[PRE_AUTHORIZED]!['pre-authorized_code'];
};
interface Sent {
  attestation?: string | undefined;
  pop?: string | undefined;
  dpop?: string | undefined;
}
const headersOf = ({ attestation, pop, dpop }: Sent): Record<string, string> => ({
  ...(attestation !== undefined && { 'OAuth-Client-Attestation': attestation }),
  ...(pop !== undefined && { 'OAuth-Client-Attestation-PoP': pop }),
  ...(dpop !== undefined && { DPoP: dpop }),
});
const exchange = async (clientId: string | undefined, sent: Sent, code?: string) => {
  const form = { grant_type: PRE_AUTHORIZED, 'pre-authorized_code': code ?? (await codeOf()) };
  const { status, body, headers } = await new ApiClient(tenant.url).request<Record<string, string>>(
    'POST',
    '/v1/oauth/token',
    {
      body: new URLSearchParams({ ...form, ...(clientId !== undefined && { client_id: clientId }) }),
      headers: headersOf(sent),
    },
  );
  return { status, body, headers, refusal: [status, body['error'], body['error_description']] };
};
const attest = (clientId: string, ...more: [claims?: JWTPayload]) => attester.attest(clientId, key.publicJwk, ...more);

describe('a wallet that attests itself', () => {
  it('collects a credential through PAR and the code flow with a third-party library, with a proof of possession of its own [T335] [T343]', async () => {
    const wallet = new Wallet(SEPARATE, undefined, await makeHolderKey(), { jwt: await attest(SEPARATE), key });
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [configuration] }), 200);
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    const token = await wallet.authorizedToken(offer, metadata, {
      ...{ browser: new RedirectBrowser(), redirectUri: BACK, scope: 'jwt_vc_json:Attested' },
      parameters: { login_hint: 'zoe' },
    });
    expect(token.token_type).toBe('DPoP');
    expect(await wallet.credentials(metadata, token.access_token, configuration, [await makeHolderKey()])).toEqual([
      expect.any(String),
    ]);
  });

  it('proves possession by its DPoP key where that is configured [T330]', async () => {
    const wallet = new Wallet(COMBINED, undefined, key, { jwt: await attest(COMBINED) });
    const { uri } = expectStatus(await tenant.api.offers.createOpen({ credentials: [configuration] }), 200);
    const offer = await wallet.resolveOffer(uri);
    const metadata = await wallet.metadata(offer.credential_issuer);
    const options = { browser: new RedirectBrowser(), redirectUri: BACK, scope: 'jwt_vc_json:Attested' };
    const token = await wallet.authorizedToken(offer, metadata, { ...options, parameters: { login_hint: 'zoe' } });
    expect(token.token_type).toBe('DPoP');
    expect(await exchange(COMBINED, { attestation: await attest(COMBINED), dpop: await dpopOf() })).toMatchObject({
      status: 200,
      body: { token_type: 'DPoP' },
    });
  });

  it('need not send client_id beside the attestation, and may use the host as audience [T338] [T347]', async () => {
    const attestation = await attest(SEPARATE);
    for (const aud of [tenant.url, new URL(tenant.url).host])
      expect((await exchange(undefined, { attestation, pop: await popOf({ aud }) })).status).toBe(200);
  });

  it.each<[string, () => string | Promise<string>]>([
    ['without sub', () => attester.attest(SEPARATE, key.publicJwk, { sub: undefined })],
    ['with an empty sub', () => attest('')],
    ['with a sub that is no text', () => attester.attest(SEPARATE, key.publicJwk, { sub: 5 as never })],
    ['that is no JWT', () => 'x'],
    ['that is empty', () => ''],
  ])('is refused with an attestation %s and no client_id, and the code is not spent [T713]', async (_, make) => {
    const code = await codeOf();
    const sent = { attestation: await make(), pop: await popOf() };
    for (const clientId of [undefined, ''])
      expect((await exchange(clientId, sent, code)).refusal).toEqual([
        ...[401, 'invalid_client', 'client attestation: sub must name the client of a request without client_id'],
      ]);
    // Without the header it is anonymous, which this grant allows.
    expect((await exchange(undefined, {}, code)).status).toBe(200);
  });

  it.each<[string, string, () => Promise<Sent>, number, string, string]>([
    [
      'no attestation',
      SEPARATE,
      async () => ({ pop: await popOf() }),
      401,
      'invalid_client',
      'the header OAuth-Client-Attestation is required of this client',
    ],
    [
      'an empty attestation',
      SEPARATE,
      async () => ({ attestation: '', pop: await popOf() }),
      401,
      'invalid_client',
      'client attestation: must be a compact JWS',
    ],
    [
      'no proof of possession',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE) }),
      401,
      'invalid_client',
      'the header OAuth-Client-Attestation-PoP is required of this client',
    ],
    [
      'the attestation of another client',
      SEPARATE,
      async () => ({ attestation: await attest(COMBINED), pop: await popOf() }),
      401,
      'invalid_client',
      'client attestation: sub must be the client_id of the request',
    ],
    [
      'an expired attestation',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE, { exp: seconds() - 1 }), pop: await popOf() }),
      401,
      'invalid_client',
      'client attestation: exp has passed',
    ],
    [
      'an old attestation',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE, { iat: seconds() - 31 * 86_400 }), pop: await popOf() }),
      400,
      'use_fresh_attestation',
      'client attestation: iat must be at most 30 days ago',
    ],
    [
      'an attestation under a root that was removed',
      SEPARATE,
      async () => ({ attestation: await otherProvider.attest(SEPARATE, key.publicJwk), pop: await popOf() }),
      401,
      'invalid_client',
      'client attestation: x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'the proof of another key',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE), pop: await popOf({}, await makeHolderKey()) }),
      401,
      'invalid_client',
      'client attestation PoP: the signature is invalid',
    ],
    [
      'a proof for another issuer',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE), pop: await popOf({ aud: 'https://other.example' }) }),
      401,
      'invalid_client',
      'client attestation PoP: aud must be ',
    ],
    [
      'an unknown challenge',
      SEPARATE,
      async () => ({ attestation: await attest(SEPARATE), pop: await popOf({ challenge: 'x' }) }),
      400,
      'use_attestation_challenge',
      'the challenge is unknown or has expired',
    ],
    [
      'no DPoP proof',
      COMBINED,
      async () => ({ attestation: await attest(COMBINED) }),
      400,
      'invalid_dpop_proof',
      'a DPoP proof of the attested key is required of this client',
    ],
    [
      'a DPoP proof of another key',
      COMBINED,
      async () => ({ attestation: await attest(COMBINED), dpop: await dpopOf({}, await makeHolderKey()) }),
      401,
      'invalid_client',
      'the DPoP proof must be made with the key in cnf.jwk of the client attestation',
    ],
    [
      'both proofs',
      COMBINED,
      async () => ({ attestation: await attest(COMBINED), pop: await popOf(), dpop: await dpopOf() }),
      401,
      'invalid_client',
      'the header OAuth-Client-Attestation-PoP must not be sent: the DPoP proof is the proof of possession',
    ],
  ])(
    'with %s is refused, and the code is not spent [T331] [T335] [T343]',
    async (_, clientId, make, status, error, description) => {
      const code = await codeOf();
      const { refusal, headers } = await exchange(clientId, await make(), code);
      expect(refusal.slice(0, 2)).toEqual([status, error]);
      expect(refusal[2]).toContain(description);
      expect(headers.has('oauth-client-attestation-challenge')).toBe(error === 'use_attestation_challenge');
      const sent = {
        attestation: await attest(clientId),
        ...(clientId === COMBINED ? { dpop: await dpopOf() } : { pop: await popOf() }),
      };
      expect((await exchange(clientId, sent, code)).status).toBe(200);
    },
  );

  it('uses a proof of possession once, and a challenge only if it sends one [T342] [T332]', async () => {
    const answer = await new ApiClient(tenant.url).request<{ attestation_challenge: string }>(
      'POST',
      '/v1/oauth/challenge',
      {},
    );
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
    const challenge = answer.body.attestation_challenge;
    const sent = { attestation: await attest(SEPARATE), pop: await popOf({ challenge }) };
    expect((await exchange(SEPARATE, sent)).status).toBe(200);
    const code = await codeOf();
    expect((await exchange(SEPARATE, sent, code)).refusal).toEqual([
      ...[401, 'invalid_client', 'the proof of possession of the client attestation has already been used'],
    ]);
    const combined = { attestation: await attest(COMBINED), dpop: await dpopOf({ nonce: challenge }) };
    expect((await exchange(COMBINED, combined, code)).status).toBe(200);
    // A challenge of this kind is no nonce of a key proof, nor of another tenant.
    const other = await popOf({ challenge: `${challenge.slice(0, -1)}${challenge.endsWith('A') ? 'B' : 'A'}` });
    expect((await exchange(SEPARATE, { ...sent, pop: other })).refusal.slice(0, 2)).toEqual([
      400,
      'use_attestation_challenge',
    ]);
  });

  it('pushes any https address, and no other client does; dpop_jkt is not for an attested key [T333]', async () => {
    const push = async (clientId: string, sent: Sent, more: Record<string, string> = {}) => {
      const parameters = {
        ...{ response_type: 'code', client_id: clientId, redirect_uri: BACK, scope: 'jwt_vc_json:Attested' },
        code_challenge: createHash('sha256').update(randomBytes(32)).digest('base64url'),
        ...{ code_challenge_method: 'S256', ...more },
      };
      const { status, body } = await new ApiClient(tenant.url).request<Record<string, string>>(
        'POST',
        '/v1/oauth/par',
        {
          body: new URLSearchParams(parameters),
          headers: headersOf(sent),
        },
      );
      return [status, body['error'], body['error_description']];
    };
    const attestation = await attest(SEPARATE);
    expect((await push(SEPARATE, { attestation, pop: await popOf() }))[0]).toBe(201);
    expect(await push(SEPARATE, {})).toEqual([
      ...[401, 'invalid_client', 'the header OAuth-Client-Attestation is required of this client'],
    ]);
    expect(
      (await push(SEPARATE, { attestation, pop: await popOf() }, { redirect_uri: 'own-scheme://x' })).slice(0, 2),
    ).toEqual([400, 'invalid_request']);
    const dpop = await dpopOf({ htu: `${tenant.url}/v1/oauth/par` });
    const combined = { attestation: await attest(COMBINED), dpop };
    expect(await push(COMBINED, combined, { dpop_jkt: 'A'.repeat(43) })).toEqual([
      ...[400, 'invalid_request', 'dpop_jkt must not be sent by a wallet whose DPoP key is attested'],
    ]);
    expect((await push(COMBINED, combined))[0]).toBe(201);
  });

  it('leaves a failure in the events of the tenant [T331] [T713]', async () => {
    for (const clientId of [SEPARATE, undefined]) {
      const { headers } = await exchange(clientId, {
        attestation: clientId === undefined ? 'x' : await attest(clientId),
      });
      const requestIds = [headers.get('x-request-id')!];
      const failure = await waitUntil(
        async () =>
          expectStatus(await tenant.api.analytics.list({ requestIds }), 200).data.find(
            ({ type }) => type === 'OPENID_TOKEN_FAIL',
          ),
        { what: 'the failure' },
      );
      expect(failure.metadata).toMatchObject({ error: { status: 401, code: 'invalid_client' } });
    }
  });

  it('is announced in the metadata of the authorization server [T334]', async () => {
    const { body } = await new ApiClient(tenant.url).request<Record<string, unknown>>(
      'GET',
      '/.well-known/oauth-authorization-server',
      {},
    );
    expect(body).toMatchObject({
      token_endpoint_auth_methods_supported: ['none', 'attest_jwt_client_auth', 'attest_jwt_client_auth_dpop'],
      client_attestation_signing_alg_values_supported: ['ES256'],
      client_attestation_pop_signing_alg_values_supported: ['ES256'],
      challenge_endpoint: `${tenant.url}/v1/oauth/challenge`,
    });
  });
});

// One process keeps them in a file.
if (platformMode() === 'cluster')
  describe('the single-use values of a request', () => {
    const path = '/v1/openid/credential';
    const connect = () => createClient({ url: process.env['REDIS_URL']! }).connect();
    let monitor: Awaited<ReturnType<typeof connect>>;
    let other: Awaited<ReturnType<typeof connect>>;
    const executed: string[] = [];
    beforeAll(async () => {
      [monitor, other] = await Promise.all([connect(), connect()]);
      await monitor.monitor((line) => void executed.push(String(line)));
    });
    afterAll(() => {
      monitor?.destroy();
      other?.destroy();
    });

    /** How many of them each command has that Redis executes during a call. The keys of rate limits have another prefix, `:rate`. */
    const spentBy = async (call: () => Promise<{ status: number }>, status: number): Promise<number[]> => {
      executed.length = 0;
      expect((await call()).status).toBe(status);
      const end = randomUUID();
      await other.ping(end);
      await waitUntil(() => executed.some((line) => line.includes(end)), { what: 'the end of what Redis executed' });
      return executed
        .filter((line) => !/^\S+ \[\d+ lua\]/.test(line)) // Executed by the script of a command.
        .map((line) => line.split(`:replay:{${tenant.id}}:`).length - 1)
        .filter((values) => values > 0);
    };
    const nonces = async () => {
      const { body, headers } = await new ApiClient(tenant.url).request<{ c_nonce: string }>(
        'POST',
        '/v1/openid/nonce',
        {},
      );
      return { ofProof: body.c_nonce, ofDpop: headers.get('dpop-nonce')! };
    };
    const keyProof = async (by: HolderKey) =>
      sign('openid4vci-proof+jwt', { aud: tenant.url, nonce: (await nonces()).ofProof }, by, { jwk: by.publicJwk });
    const collect = async (token: string, jwt: string[]) => {
      const ath = createHash('sha256').update(token).digest('base64url');
      const dpop = await dpopOf({ htu: `${tenant.url}${path}`, ath, nonce: (await nonces()).ofDpop });
      const body = { credential_configuration_id: configuration, proofs: { jwt } };
      const headers = { authorization: `DPoP ${token}`, DPoP: dpop };
      return new ApiClient(tenant.url).request('POST', path, { body, headers });
    };

    it('are one command to Redis: proofs at the token endpoint, proof and nonces at the credential endpoint', async () => {
      const send = async () => ({ attestation: await attest(SEPARATE), pop: await popOf(), dpop: await dpopOf() });
      let token: string | undefined;
      const redeem = async (sent: Sent) => {
        const answer = await exchange(SEPARATE, sent);
        token ??= answer.body['access_token'];
        return answer;
      };
      // A server that has just started does not know the script: it gets it with a second command.
      await spentBy(async () => redeem(await send()), 200);
      const sent = await send();
      expect(await spentBy(() => redeem(sent), 200)).toEqual([2]);
      expect(await spentBy(() => redeem(sent), 401)).toEqual([2]);
      const keys = await Promise.all([makeHolderKey(), makeHolderKey()]);
      const jwt = await Promise.all(keys.map(keyProof));
      expect(await spentBy(() => collect(token!, jwt), 200)).toEqual([3]);
      // Another DPoP proof, the same nonces.
      expect(await spentBy(() => collect(token!, jwt), 400)).toEqual([3]);
      expect(await spentBy(() => collect(token!, ['not a proof']), 400)).toEqual([1]);
    });
  });
