import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  verifySdJwt,
  verifySdJwtWithCredo,
  Wallet,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';
import { SignJWT } from 'jose';

let tenant: TenantUnderTest;
/** Credential configuration. */
let id: string;
let vct: string;

const request = {
  type: 'Course',
  name: 'Course credential',
  description: 'Says who passed',
  issuer: { name: 'Example University', logoUrl: 'https://university.example/logo.png' },
  claimMappings: {
    given_name: { mapFrom: 'claims.given_name', required: true },
    country: { mapFrom: 'claims.address.country', defaultValue: 'NZ' },
    level: { defaultValue: { rank: 3, tags: ['a', 'b'] } },
    nickname: { mapFrom: 'claims.nickname' },
  },
  expiresIn: { months: 6 },
};
const claims = { given_name: 'Zoë', address: { country: 'FR' }, unused: 'never shown' };

beforeAll(async () => {
  const platform = await sharedPlatform();
  tenant = await createTenantUnderTest(platform, await connectManagement(platform), 'sd-college');
  ({ id, vct } = expectStatus(await tenant.api.sdJwt.create(request), 201));
}, PLATFORM_START_MS);

const offer = async (more: object = {}) =>
  expectStatus(await tenant.api.offers.create({ credentials: [id], claims, ...more }), 200);
const collect = async (...keys: HolderKey[]) => {
  const { credentials } = await new Wallet().collect((await offer()).uri, keys.length ? { keys } : {});
  return credentials.map(({ credential, key }) => ({ credential: credential as string, key }));
};

const VERIFIERS = [
  ['@sd-jwt/sd-jwt-vc', verifySdJwt],
  ['@credo-ts/core', verifySdJwtWithCredo],
] as const;

describe('a third-party wallet obtains a dc+sd-jwt [T99, T100, T101]', () => {
  it.each(VERIFIERS)('that %s verifies, with key binding, certificate and type metadata', async (_, verifier) => {
    const [got] = await collect();
    const { header, payload, type } = await verifier(got!.credential, got!.key);
    expect(header).toMatchObject({ alg: 'ES256', typ: 'dc+sd-jwt', x5c: [expect.any(String)] });
    const { given_name, country, level, iss, iat, nbf, exp, cnf, ...more } = payload as Record<string, unknown> & {
      iat: number;
      nbf: number;
      exp: number;
    };
    expect({ given_name, country, level }).toEqual({
      given_name: 'Zoë',
      country: 'FR',
      level: { rank: 3, tags: ['a', 'b'] },
    });
    expect(iss).toBe(tenant.url);
    expect(cnf).toEqual({ jwk: got!.key.publicJwk });
    expect(more).toEqual({ vct, 'vct#integrity': expect.stringMatching(/^sha256-/) });
    // Rounded, so that they link no credentials.
    expect([iat % 3600, nbf % 3600, exp % 86_400]).toEqual([0, 0, 0]);
    const days = (exp - nbf) / 86_400;
    expect(days).toBeGreaterThanOrEqual(179);
    expect(days).toBeLessThanOrEqual(184);
    expect(type).toMatchObject({ vct, name: 'Course credential', description: 'Says who passed' });
    const described = type!['claims'] as { path: string[]; sd: string }[];
    expect(described.filter(({ sd }) => sd === 'always').map(({ path: [name] }) => name)).toEqual([
      ...['given_name', 'country', 'level', 'nickname'],
    ]);
    // Every claim of the credential is in its type, which some verifiers demand [T743].
    expect(described.map(({ path: [name] }) => name)).toEqual(expect.arrayContaining(Object.keys(payload)));
  });

  it.each(VERIFIERS)('of which the holder discloses what it chooses to %s', async (_, verifier) => {
    const [got] = await collect();
    const { payload } = await verifier(got!.credential, got!.key, ['country']);
    expect(payload).toMatchObject({ country: 'FR' });
    expect(payload).not.toHaveProperty('given_name');
    expect(payload).not.toHaveProperty('level');
  });

  it('in a batch, in which nothing but the times, the issuer and the type is alike', async () => {
    const keys = await Promise.all([makeHolderKey(), makeHolderKey(), makeHolderKey()]);
    const batch = await collect(...keys);
    const payloads = await Promise.all(
      batch.map(async ({ credential, key }) => (await verifySdJwt(credential, key)).payload),
    );
    expect(payloads.map(({ cnf }) => (cnf as { jwk: object }).jwk)).toEqual(keys.map(({ publicJwk }) => publicJwk));
    const disclosures = batch.flatMap(({ credential }) => credential.split('~').slice(1, -1));
    expect(new Set(disclosures).size).toBe(disclosures.length);
  });

  it.each(VERIFIERS)('and %s refuses a changed signature, or another holder', async (_, verifier) => {
    const [got] = await collect();
    const [jwt, ...disclosures] = got!.credential.split('~');
    const [header, payload, signature] = jwt!.split('.');
    const swapped = `${signature![0] === 'A' ? 'B' : 'A'}${signature!.slice(1)}`;
    await expect(verifier([[header, payload, swapped].join('.'), ...disclosures].join('~'), got!.key)).rejects.toThrow(
      'Invalid JWT Signature',
    );
    await expect(verifier(got!.credential, await makeHolderKey())).rejects.toThrow('Invalid JWT Signature');
  });
});

describe('the wire', () => {
  const api = () => new ApiClient(tenant.url);
  /** With a proof that no client library makes. */
  const requestCredential = async (configurationId: string, key: HolderKey): Promise<unknown[]> => {
    const wallet = new Wallet();
    const { uri } = await offer({ credentials: [configurationId] });
    const metadata = await wallet.metadata(tenant.url);
    const token = await wallet.accessToken(await wallet.resolveOffer(uri), metadata);
    const proof = await new SignJWT({ nonce: await wallet.nonce(metadata), aud: tenant.url })
      .setIssuedAt()
      .setProtectedHeader({ alg: key.algorithm, typ: 'openid4vci-proof+jwt', jwk: key.publicJwk })
      .sign(key.privateKey);
    const body = { credential_configuration_id: configurationId, proofs: { jwt: [proof] } };
    const answer = await api().request<{ error: string; error_description: string }>('POST', '/v1/openid/credential', {
      token,
      body,
    });
    return [answer.status, answer.body.error, answer.body.error_description];
  };

  it('shows the format in the issuer metadata [T102]', async () => {
    const { body } = await tenant.api.metadata();
    const supported = body['credential_configurations_supported'] as Record<string, unknown>;
    expect(supported[id]).toEqual({
      format: 'dc+sd-jwt',
      id,
      scope: 'dc+sd-jwt:Course',
      vct,
      cryptographic_binding_methods_supported: ['jwk'],
      credential_signing_alg_values_supported: ['ES256'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256'] } },
      credential_metadata: {
        display: [
          {
            name: 'Course credential',
            logo: { uri: 'https://university.example/logo.png', alt_text: 'Example University' },
            description: 'Says who passed',
          },
        ],
        claims: [
          { path: ['given_name'], mandatory: true },
          { path: ['country'], mandatory: false },
          { path: ['level'], mandatory: false },
          { path: ['nickname'], mandatory: false },
        ],
      },
    });
    expect(body['credentials_supported']).toEqual([
      {
        format: 'dc+sd-jwt',
        id,
        scope: 'dc+sd-jwt:Course',
        vct,
        cryptographic_binding_methods_supported: ['jwk'],
        cryptographic_suites_supported: ['ES256'],
        display: [expect.objectContaining({ name: 'Course credential' })],
      },
    ]);
  });

  it('serves each version of the type forever, and no other [T103]', async () => {
    const created = expectStatus(await tenant.api.sdJwt.create({ ...request, type: 'a/b?c' }), 201);
    const path = new URL(created.vct).pathname;
    const first = await api().request<{ vct: string }>('GET', path);
    expect([first.status, first.headers.get('cache-control'), first.body.vct]).toEqual([
      200,
      'public, max-age=31536000, immutable',
      created.vct,
    ]);
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    const changed = expectStatus(await tenant.api.sdJwt.update(created.id, { ...created, name: 'Another' }), 200);
    expect(changed.vct).toBe(created.vct.replace(/1$/, '2'));
    expect((await tenant.api.sdJwt.delete(created.id)).status).toBe(204);
    expect((await api().request('GET', path)).text).toBe(first.text);
    expect((await api().request('GET', new URL(changed.vct).pathname)).status).toBe(200);
    expect((await api().request('GET', path.replace(/1$/, '3'))).status).toBe(404);
  });

  it('has the display of the configuration and of its claims in the type metadata [T166]', async () => {
    const display = [
      {
        ...{ locale: 'de-DE', name: 'Kurs', background_color: '#a1b2c3', text_color: '#000000' },
        background_image: { uri: 'https://university.example/back.png' },
      },
      { name: 'No language' },
    ];
    const names = [{ name: 'Vorname', locale: 'de-DE' }, { name: 'Given name' }];
    const claimMappings = { given_name: { mapFrom: 'claims.given_name', required: true, display: names } };
    const body = { ...request, type: 'Displayed', display, claimMappings };
    const created = expectStatus(await tenant.api.sdJwt.create(body), 201);
    const { credentials } = await new Wallet().collect((await offer({ credentials: [created.id] })).uri);
    const [got] = credentials;
    const { payload, type } = await verifySdJwtWithCredo(got!.credential as string, got!.key);
    expect(payload['vct']).toBe(created.vct);
    const shown = {
      locale: 'de-DE',
      name: 'Kurs',
      description: 'Says who passed',
      rendering: {
        simple: {
          logo: { uri: 'https://university.example/logo.png', alt_text: 'Example University' },
          background_image: { uri: 'https://university.example/back.png' },
          background_color: '#a1b2c3',
          text_color: '#000000',
        },
      },
    };
    expect(type).toMatchObject({ name: 'Course credential', display: [shown] });
    expect((type!['claims'] as object[])[0]).toMatchObject({
      ...{ path: ['given_name'], mandatory: true },
      display: [{ locale: 'de-DE', label: 'Vorname' }],
    });
    // A change does not affect earlier credentials.
    const other = { ...body, display: [{ ...display[0]!, name: 'Lehrgang' }] };
    const changed = expectStatus(await tenant.api.sdJwt.update(created.id, other), 200);
    expect(changed.vct).toBe(created.vct.replace(/1$/, '2'));
    expect((await api().request('GET', new URL(created.vct).pathname)).body).toMatchObject({ display: [shown] });
    expect((await api().request('GET', new URL(changed.vct).pathname)).body).toMatchObject({
      display: [{ ...shown, name: 'Lehrgang' }],
    });
  });

  it('refuses proofs of other algorithms than the metadata announces', async () =>
    expect(await requestCredential(id, await makeHolderKey('EdDSA'))).toEqual([
      400,
      'invalid_proof',
      'proof: the key must be a P-256 key (ES256) for this credential configuration',
    ]));

  it('is not configured to outlive the certificate of its signer; nine years fit [T620]', async () => {
    const body = { ...request, type: 'Long', expiresIn: { years: 10 } };
    expect(await tenant.api.sdJwt.create(body)).toMatchObject({
      status: 400,
      body: {
        details: [
          {
            param: 'expiresIn',
            msg: 'must be at most 3290 days, for which the certificate of every signer is valid; it can be 3653 days',
          },
        ],
      },
    });
    const long = expectStatus(await tenant.api.sdJwt.create({ ...body, expiresIn: { years: 9 } }), 201);
    const { uri, warnings } = await offer({ credentials: [long.id] });
    expect(warnings).toEqual([
      {
        param: 'claims.unused',
        msg: 'is not used: no mapping of the credential configurations and no entry of claimsToPersist names it',
      },
    ]);
    expect((await new Wallet().collect(uri)).credentials).toHaveLength(1);
    expect((await tenant.api.sdJwt.update(long.id, body)).status).toBe(400);
  });

  it('refuses a configuration with faults, each with its reason', async () => {
    const answer = await tenant.api.sdJwt.create({
      ...request,
      type: 'Faults',
      vct: 'no uri',
      claimMappings: { iss: { defaultValue: 'x' } },
      expiresIn: { minutes: 5 },
    } as never);
    expect(answer.status).toBe(400);
    expect((answer.body as unknown as { details: { param: string; msg: string }[] }).details).toMatchObject([
      {
        param: 'vct',
        msg: 'must be an absolute URI such as https://example.com/types/degree or urn:example:degree',
      },
      {
        param: 'claimMappings.iss',
        msg: 'is a reserved name: iss is set by the platform, and never selectively disclosable',
      },
      { param: 'expiresIn', msg: 'must be at least 2 hours' },
    ]);
  });
});
