import { listEvents } from '@attestry/contracts';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  hostFetch,
  makeHolderKey,
  sharedPlatform,
  verifyJwtVc,
  verifyLdpVc,
  waitUntil,
  Wallet,
  type Answer,
  type HolderKey,
  type ManagementApi,
  type PlatformAddresses,
  type TenantUnderTest,
  PLATFORM_START_MS,
} from '@attestry/testing';
import type { JWK } from 'jose';
import { SignJWT } from 'jose';

const PRE_AUTHORIZED = 'urn:ietf:params:oauth:grant-type:pre-authorized_code';

let platform: PlatformAddresses;
let management: ManagementApi;
let tenant: TenantUnderTest;
/** Credential configurations by issuer and format. */
const configurations: Record<string, string> = {};

const claimMappings = {
  given_name: { mapFrom: 'claims.given_name', required: true },
  country: { mapFrom: 'claims.address.country', defaultValue: 'NZ' },
  level: { defaultValue: { rank: 3, tags: ['a', 'b'] } },
};
const claims = { given_name: 'Zoë', address: { country: 'FR' }, unused: 'never shown' };
const request = (type: string, issuerDid: string) => ({
  type,
  name: 'Course credential',
  description: 'Says who passed',
  issuer: { name: 'Example University' },
  issuerDid,
  claimMappings,
  expiresIn: { months: 6 },
});

beforeAll(async () => {
  platform = await sharedPlatform();
  management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'university');
  const { dids, jwtVc, webSemantic } = tenant.api;
  const did = async (method: 'key' | 'web', options: object) =>
    expectStatus(await dids.create({ method, options }), 201).did;
  const ed25519 = await did('key', { keyType: 'Ed25519' });
  const p256 = await did('key', { keyType: 'P-256' });
  const web = await did('web', { url: tenant.host });
  configurations['jwt did:key P-256'] = expectStatus(await jwtVc.create(request('A', p256)), 201).id;
  configurations['jwt did:key Ed25519'] = expectStatus(await jwtVc.create(request('B', ed25519)), 201).id;
  configurations['jwt did:web'] = expectStatus(await jwtVc.create(request('C', web)), 201).id;
  configurations['ldp did:key'] = expectStatus(await webSemantic.create(request('A', ed25519)), 201).id;
  const old = { ...request('D', web), proofType: 'Ed25519Signature2018' as const };
  configurations['ldp VCDM 1.1'] = expectStatus(await webSemantic.create(old), 201).id;
  for (const [name, did] of [['did:key', p256] as const, ['did:web', web] as const]) {
    const ecdsa = { ...request(`Ecdsa${name.slice(4)}`, did), proofType: 'ecdsa-rdfc-2019' as const };
    configurations[`ldp ecdsa ${name}`] = expectStatus(await webSemantic.create(ecdsa), 201).id;
  }
  configurations['ldp did:web'] = expectStatus(await webSemantic.create(request('B', web)), 201).id;
}, PLATFORM_START_MS);

const id = (name: string): string => configurations[name]!;
const offerOf = async (names: string[], more: object = {}) =>
  expectStatus(await tenant.api.offers.create({ credentials: names.map(id), claims, ...more }), 200);
const codeOf = (uri: string) => {
  const offer = JSON.parse(new URL(uri).searchParams.get('credential_offer')!) as {
    grants: Record<string, Record<string, string>>;
  };
  return offer.grants[PRE_AUTHORIZED]!['pre-authorized_code']!;
};

const wire = () => new ApiClient(tenant.url);
interface OAuthBody {
  error: string;
  error_description: string;
}
const exchange = (members: Record<string, string>, headers: Record<string, string> = {}) =>
  wire().request<OAuthBody & { access_token: string }>('POST', '/v1/oauth/token', {
    body: new URLSearchParams(members),
    headers,
  });
const redeem = async (uri: string) =>
  expectStatus(await exchange({ grant_type: PRE_AUTHORIZED, 'pre-authorized_code': codeOf(uri) }), 200).access_token;
const nonce = async () =>
  expectStatus(await wire().request<{ c_nonce: string }>('POST', '/v1/openid/nonce'), 200).c_nonce;
const credential = (token: string, body: unknown, more: object = {}) =>
  wire().request<OAuthBody & { credentials: { credential: string }[] }>('POST', '/v1/openid/credential', {
    token,
    body,
    ...more,
  });

interface ProofParts {
  header?: Record<string, unknown>;
  payload?: Record<string, unknown>;
  /** Signs with another key than the header names. */
  signer?: HolderKey;
}
const proof = async (cNonce: string | undefined, key: HolderKey, { header, payload, signer = key }: ProofParts = {}) =>
  new SignJWT({
    ...(cNonce !== undefined && { nonce: cNonce }),
    aud: tenant.url,
    iat: Math.floor(Date.now() / 1000),
    ...payload,
  })
    .setProtectedHeader({
      alg: signer.algorithm,
      typ: 'openid4vci-proof+jwt',
      jwk: key.publicJwk,
      ...header,
    } as { alg: string })
    .sign(signer.privateKey, { crit: { exp: false } });

const expectOAuthError = (answer: Answer<OAuthBody>, status: number, error: string) => {
  expect([answer.status, answer.body.error, answer.text]).toEqual([status, error, expect.anything()]);
  expect(answer.body.error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
  expect(answer.headers.get('cache-control')).toBe('no-store');
};

const jwkOfDidJwk = (did: string): unknown =>
  JSON.parse(Buffer.from(did.replace('did:jwk:', ''), 'base64url').toString());
/** Issuing does not wait for the list of issued credentials (ADR 0057). */
const issuedTo = (userId: string, count: number) =>
  waitUntil(
    async () => {
      const answer = await tenant.api.users.credentials(userId);
      return expectStatus(answer, 200).data.length >= count && answer;
    },
    { what: 'the metadata of what was issued' },
  );
const subjectOf = (vc: Record<string, unknown>) => vc['credentialSubject'] as Record<string, unknown>;

describe('a third-party wallet obtains a credential [T76, T79, T84, T86]', () => {
  const jwtJourneys = ['jwt did:key P-256', 'jwt did:key Ed25519', 'jwt did:web'].flatMap((name) =>
    (['ES256', 'EdDSA'] as const).flatMap((algorithm) =>
      (['jwk', 'did:key', 'did:jwk'] as const).map((binding) => [name, algorithm, binding] as const),
    ),
  );
  it.each(jwtJourneys)('%s with an %s key in %s, and jose verifies it', async (name, algorithm, binding) => {
    const key = await makeHolderKey(algorithm, binding);
    const { uri } = await offerOf([name]);
    const { credentials } = await new Wallet().collect(uri, { keys: [key] });
    expect(credentials).toHaveLength(1);
    const { header, payload } = await verifyJwtVc(credentials[0]!.credential as string);
    expect(header.alg).toBe(name.endsWith('Ed25519') ? 'EdDSA' : 'ES256');
    const vc = payload.vc!;
    // The order of its members is the platform's choice when it created the did:jwk itself.
    if (binding === 'jwk') expect(jwkOfDidJwk(payload.sub!)).toEqual(key.publicJwk);
    else expect(payload.sub).toBe(key.did);
    expect(vc['type']).toEqual(expect.arrayContaining(['VerifiableCredential']));
    expect(subjectOf(vc)).toMatchObject({
      given_name: 'Zoë',
      country: 'FR',
      level: { rank: 3, tags: ['a', 'b'] },
    });
    expect(JSON.stringify(vc)).not.toContain('never shown');
    // Six months, counted by the calendar.
    const days = (payload.exp! - payload.nbf!) / 86_400;
    expect(days).toBeGreaterThanOrEqual(181);
    expect(days).toBeLessThanOrEqual(184);
  });

  const ldpJourneys = ['ldp did:key', 'ldp did:web'].flatMap((name) =>
    (['ES256', 'EdDSA'] as const).map((algorithm) => [name, algorithm] as const),
  );
  it.each(ldpJourneys)('%s with an %s key, and Digital Bazaar verifies it', async (name, algorithm) => {
    const key = await makeHolderKey(algorithm, 'did:key');
    const { uri } = await offerOf([name]);
    const [got] = (await new Wallet().collect(uri, { keys: [key] })).credentials;
    const vc = got!.credential as Record<string, unknown>;
    await verifyLdpVc(vc);
    expect(subjectOf(vc)).toMatchObject({ id: key.did, given_name: 'Zoë', country: 'FR' });
    expect(vc['proof']).toMatchObject({ type: 'DataIntegrityProof', cryptosuite: 'eddsa-rdfc-2022' });
    expect(Date.parse(vc['validUntil'] as string)).toBeGreaterThan(Date.parse(vc['validFrom'] as string));
  });

  it.each(['did:key', 'did:web'])('signed by the P-256 key of a %s when configured [T161]', async (method) => {
    const { uri } = await offerOf([`ldp ecdsa ${method}`]);
    const [got] = (await new Wallet().collect(uri)).credentials;
    const vc = got!.credential as Record<string, unknown>;
    await verifyLdpVc(vc);
    expect(subjectOf(vc)).toMatchObject({ given_name: 'Zoë', country: 'FR' });
    expect(vc['proof']).toMatchObject({ type: 'DataIntegrityProof', cryptosuite: 'ecdsa-rdfc-2019' });
    const changed = { ...vc, credentialSubject: { ...subjectOf(vc), given_name: 'Mallory' } };
    await expect(verifyLdpVc(changed)).rejects.toThrow(/verif/i);
    const metadata = expectStatus(await tenant.api.metadata(), 200) as unknown as {
      credential_configurations_supported: Record<string, object>;
    };
    expect(metadata.credential_configurations_supported[id(`ldp ecdsa ${method}`)]).toMatchObject({
      credential_signing_alg_values_supported: ['ecdsa-rdfc-2019'],
    });
  });

  it('as VCDM 1.1 with Ed25519Signature2018 when configured', async () => {
    const key = await makeHolderKey('EdDSA', 'did:key');
    const { uri } = await offerOf(['ldp VCDM 1.1']);
    const [got] = (await new Wallet().collect(uri, { keys: [key] })).credentials;
    const vc = got!.credential as Record<string, unknown>;
    await verifyLdpVc(vc);
    expect(vc['@context']).toContain('https://www.w3.org/2018/credentials/v1');
    expect(subjectOf(vc)).toMatchObject({ id: key.did, given_name: 'Zoë', country: 'FR' });
    expect(vc['proof']).toMatchObject({ type: 'Ed25519Signature2018', jws: expect.stringContaining('..') });
    expect(Date.parse(vc['expirationDate'] as string)).toBeGreaterThan(Date.parse(vc['issuanceDate'] as string));
    await expect(verifyLdpVc({ ...vc, name: 'Another' })).rejects.toThrow(/verif/i);
  });

  it('and a modified claim of either format no longer verifies', async () => {
    const { uri } = await offerOf(['jwt did:web', 'ldp did:web']);
    const { credentials } = await new Wallet().collect(uri);
    const [jwt, ldp] = credentials.map(({ credential: one }) => one) as [string, Record<string, unknown>];
    await verifyJwtVc(jwt);
    await verifyLdpVc(ldp);
    const [header, payload, signature] = jwt.split('.') as [string, string, string];
    const claimsSet = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { vc: Record<string, unknown> };
    subjectOf(claimsSet.vc)['given_name'] = 'Mallory';
    const forged = Buffer.from(JSON.stringify(claimsSet)).toString('base64url');
    await expect(verifyJwtVc(`${header}.${forged}.${signature}`)).rejects.toThrow(/signature/);
    const changed = { ...ldp, credentialSubject: { ...subjectOf(ldp), given_name: 'Mallory' } };
    await expect(verifyLdpVc(changed)).rejects.toThrow(/verif/i);
  });

  it('from an offer by reference', async () => {
    const { uriByReference } = await offerOf(['jwt did:web']);
    const { credentials } = await new Wallet().collect(uriByReference);
    await verifyJwtVc(credentials[0]!.credential as string);
    // Redeemed: the document is a 404.
    const reference = new URL(uriByReference).searchParams.get('credential_offer_uri')!;
    expect((await hostFetch(reference)).status).toBe(404);
  });

  it('with a transaction code', async () => {
    const { uri, transactionCode } = await offerOf(['jwt did:web'], {
      transactionCodeConfiguration: { inputMode: 'numeric', description: 'Sent by post' },
    });
    expect(transactionCode).toMatch(/^\d{6}$/);
    const { offer, credentials } = await new Wallet().collect(uri, { transactionCode: transactionCode! });
    expect(offer.grants?.[PRE_AUTHORIZED]?.tx_code).toEqual({
      length: 6,
      input_mode: 'numeric',
      description: 'Sent by post',
    });
    await verifyJwtVc(credentials[0]!.credential as string);
  });

  it('in a batch, each bound to a separate key', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => makeHolderKey('ES256', 'did:key')));
    const { uri } = await offerOf(['jwt did:key P-256']);
    const { credentials } = await new Wallet().collect(uri, { keys });
    const payloads = await Promise.all(credentials.map(({ credential: one }) => verifyJwtVc(one as string)));
    expect(payloads.map(({ payload }) => payload.sub).sort()).toEqual(keys.map(({ did }) => did).sort());
    expect(new Set(payloads.map(({ payload }) => payload.jti)).size).toBe(10);
  });

  it('of several configurations, repeatedly while the token is valid', async () => {
    const { uri, userId } = await offerOf(['jwt did:web', 'ldp did:key']);
    const wallet = new Wallet();
    const { metadata, accessToken, credentials } = await wallet.collect(uri);
    expect(credentials.map(({ configurationId }) => configurationId)).toEqual([id('jwt did:web'), id('ldp did:key')]);
    const again = await wallet.credentials(metadata, accessToken, id('jwt did:web'), [await makeHolderKey()]);
    await verifyJwtVc(again[0] as string);
    const { data } = (await issuedTo(userId, 3)).body;
    expect(data.map(({ format }) => format).sort()).toEqual(['jwt_vc_json', 'jwt_vc_json', 'ldp_vc']);
  });

  it('and the user has the metadata of the issued credential, without its values', async () => {
    const key = await makeHolderKey();
    const offer = await offerOf(['jwt did:web']);
    await new Wallet().collect(offer.uri, { keys: [key] });
    const answer = await issuedTo(offer.userId, 1);
    expect(answer.body.data).toEqual([
      expect.objectContaining({
        format: 'jwt_vc_json',
        profile: 'jwt-vc',
        type: 'C',
        offerId: offer.id,
        sessionId: offer.id,
        credentialConfigurationId: id('jwt did:web'),
        devicePublicKey: expect.objectContaining(key.publicJwk),
        validUntil: expect.any(String),
      }),
    ]);
    expect(answer.text).not.toContain('Zoë');
  });

  it("with the claims of a known user, overridden by the offer's, of which only the named ones are stored", async () => {
    const user = expectStatus(await tenant.api.users.create({ claims: { given_name: 'Old', town: 'Paris' } }), 201);
    const offer = await offerOf(['jwt did:web'], {
      userId: user.id,
      claims: { given_name: 'New', seat: '12' },
      claimsToPersist: ['seat'],
    });
    expect(offer.userId).toBe(user.id);
    const [got] = (await new Wallet().collect(offer.uri)).credentials;
    const { payload } = await verifyJwtVc(got!.credential as string);
    expect(subjectOf(payload.vc!)['given_name']).toBe('New');
    expect((await tenant.api.users.retrieve(user.id)).body.claims).toEqual({
      given_name: 'Old',
      town: 'Paris',
      seat: '12',
    });
  });

  it('with the claims of a user as last replaced, and issued credentials are unchanged', async () => {
    const user = expectStatus(await tenant.api.users.create({ claims: { given_name: 'Old', town: 'Paris' } }), 201);
    const issue = async () => {
      const { uri } = await offerOf(['jwt did:web'], { userId: user.id, claims: {} });
      const [got] = (await new Wallet().collect(uri)).credentials;
      return got!.credential as string;
    };
    const subject = async (credential: string) => subjectOf((await verifyJwtVc(credential)).payload.vc!);
    const before = await issue();
    const updated = await tenant.api.users.update(user.id, { claims: { given_name: 'New' } });
    expect([updated.status, updated.body]).toEqual([200, { id: user.id, claims: { given_name: 'New' } }]);
    expect((await tenant.api.users.retrieve(user.id)).body).toEqual(updated.body);
    expect((await subject(before))['given_name']).toBe('Old');
    expect((await subject(await issue()))['given_name']).toBe('New');
    expectStatus(await tenant.api.users.delete(user.id), 204);
    expect((await tenant.api.users.update(user.id, { claims: {} })).status).toBe(404);
  });

  it('by credential identifier, after authorization details in the token request, or by its only configuration [T77] [T740]', async () => {
    const { uri } = await offerOf(['jwt did:web']);
    const answer = await exchange({
      grant_type: PRE_AUTHORIZED,
      'pre-authorized_code': codeOf(uri),
      authorization_details: JSON.stringify([
        { type: 'openid_credential', credential_configuration_id: id('jwt did:web') },
      ]),
    });
    const body = expectStatus(answer, 200) as unknown as {
      access_token: string;
      authorization_details: { credential_identifiers: string[] }[];
    };
    const [identifier] = body.authorization_details[0]!.credential_identifiers;
    const proofs = async () => ({ jwt: [await proof(await nonce(), await makeHolderKey())] });
    const got = await credential(body.access_token, { credential_identifier: identifier, proofs: await proofs() });
    await verifyJwtVc(expectStatus(got, 200).credentials[0]!.credential);
    const byId = { credential_configuration_id: id('jwt did:web'), proofs: await proofs() };
    await verifyJwtVc(expectStatus(await credential(body.access_token, byId), 200).credentials[0]!.credential);
    const unknown = { credential_identifier: 'another', proofs: await proofs() };
    expectOAuthError(await credential(body.access_token, unknown), 400, 'unknown_credential_identifier');
  });
});

describe('metadata', () => {
  it('lists the supported features and names this tenant [T59, T91, T92, T96]', async () => {
    const { body } = await tenant.api.metadata();
    expect(body).toMatchObject({
      credential_issuer: tenant.url,
      credential_endpoint: `${tenant.url}/v1/openid/credential`,
      nonce_endpoint: `${tenant.url}/v1/openid/nonce`,
      batch_credential_issuance: { batch_size: 10 },
    });
    const supported = body['credential_configurations_supported'] as Record<string, Record<string, unknown>>;
    expect(Object.keys(supported).sort()).toEqual(Object.values(configurations).sort());
    expect(supported[id('jwt did:web')]).toMatchObject({
      format: 'jwt_vc_json',
      scope: 'jwt_vc_json:C',
      cryptographic_binding_methods_supported: ['did:key', 'did:jwk', 'jwk'],
      proof_types_supported: { jwt: { proof_signing_alg_values_supported: ['ES256', 'EdDSA'] } },
    });
    const keys = await wire().request<{ keys: JWK[] }>('GET', '/v1/oauth/jwks');
    expect(keys.body.keys).toEqual(expect.any(Array));
  });

  it('of linked data names contexts and types [T97]', async () => {
    const { body } = await tenant.api.metadata();
    const supported = body['credential_configurations_supported'] as Record<string, Record<string, unknown>>;
    const definition = {
      '@context': [expect.stringContaining('https://www.w3.org/'), expect.any(String)] as string[],
      type: ['VerifiableCredential', 'B'],
    };
    expect(supported[id('ldp did:web')]).toMatchObject({ format: 'ldp_vc', credential_definition: definition });
    const legacy = body['credentials_supported'] as Record<string, unknown>[];
    expect(legacy.find((it) => it['id'] === id('ldp did:web'))).toMatchObject({
      ...definition,
      format: 'ldp_vc',
      scope: 'ldp_vc:B',
      cryptographic_binding_methods_supported: expect.arrayContaining(['did:key']) as string[],
      cryptographic_suites_supported: ['eddsa-rdfc-2022'],
      credentialSubject: expect.any(Object) as object,
      display: [expect.objectContaining({ name: expect.any(String) as string })],
    });
  });

  it('is signed for a wallet that prefers it [T107]', async () => {
    const path = '/.well-known/openid-credential-issuer';
    const plain = await wire().request('GET', path, { headers: { accept: 'application/json' } });
    const answer = await wire().request('GET', path, { headers: { accept: 'application/jwt' } });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/jwt']);
    expect(answer.headers.get('vary')).toBe('Accept-Language, Accept, Accept-Encoding');
    const ca = await wire().request<{ certificates: string[] }>('GET', '/v1/openid/issuer-ca');
    const { signedCredentialIssuer } = await new Wallet(undefined, ca.body.certificates[0]).metadata(tenant.url);
    const { header, payload } = signedCredentialIssuer!.jwt;
    expect(header).toEqual({ alg: 'ES256', typ: 'openidvci-issuer-metadata+jwt', x5c: [expect.any(String)] });
    expect(payload).toEqual({
      ...(plain.body as object),
      sub: tenant.url,
      iat: expect.closeTo(Date.now() / 1000, -2) as number,
    });
  });

  describe('of a configuration with display', () => {
    const logo = { uri: 'https://cdn.example/de.png', alt_text: 'Wappen' };
    const en = { locale: 'en', name: 'Degree', text_color: '#ffffff' };
    const de = {
      ...{ locale: 'de', description: 'Von der Universität.', logo, background_color: '#a1b2c3' },
      background_image: { uri: 'https://cdn.example/de-background.png' },
    };
    const names = [
      { name: 'Vorname', locale: 'de' },
      { name: 'Given name', locale: 'en' },
    ];
    let configured: string;
    let own: { name: string };
    beforeAll(async () => {
      const { issuerDid: _, ...body } = request('Displayed', '');
      own = body as typeof own;
      const claimMappings = { given_name: { mapFrom: 'claims.given_name', display: names } };
      const made = await tenant.api.jwtVc.create({ ...body, display: [en, de], claimMappings } as never);
      configured = expectStatus(made, 201).id;
    });
    afterAll(() => tenant.api.jwtVc.delete(configured));

    it('has its entries, completed by the other members of the configuration [T104]', async () => {
      const { credentialIssuer, knownCredentialConfigurations } = await new Wallet().metadata(tenant.url);
      expect(Object.keys(knownCredentialConfigurations)).toContain(configured);
      expect(credentialIssuer.credential_configurations_supported[configured]).toMatchObject({
        credential_metadata: {
          display: [en, { ...de, name: own.name }],
          claims: [{ path: ['credentialSubject', 'given_name'], display: names }],
        },
      });
      expect(expectStatus(await tenant.api.jwtVc.retrieve(configured), 200)).toMatchObject({ display: [en, de] });
    });

    it('has the entries in the language that the wallet prefers [T105]', async () => {
      const get = async (language?: string) => {
        const headers: Record<string, string> = language === undefined ? {} : { 'accept-language': language };
        const answer = await wire().request<{
          credential_configurations_supported: Record<string, { credential_metadata: object }>;
        }>('GET', '/.well-known/openid-credential-issuer', { headers });
        const { credential_metadata: shown } = answer.body.credential_configurations_supported[configured]!;
        expect(answer.headers.get('vary')).toContain('Accept-Language');
        return { language: answer.headers.get('content-language'), shown };
      };
      expect(await get('fr;q=0.9, de-AT;q=0.8')).toMatchObject({
        language: 'de',
        shown: { display: [{ locale: 'de' }], claims: [{ display: [names[0]] }] },
      });
      const all = { language: null, shown: { display: [{ locale: 'en' }, { locale: 'de' }] } };
      expect(await get()).toMatchObject(all);
      expect(await get('fr')).toMatchObject(all);
    });

    it('is refused with entries that wallets could not display', async () => {
      const { issuerDid: _, ...body } = request('Refused', '');
      const wrong = { ...body, display: [{ locale: 'de_CH' }, { logo: {} }, { background_color: 'red' }] };
      const answer = await tenant.api.jwtVc.create(wrong as never);
      const details = (answer.body as unknown as { details: { param: string; msg: string }[] }).details;
      expect([answer.status, details.map(({ param, msg }) => [param, msg])]).toEqual([
        400,
        [
          ['display.0.locale', 'must be a language tag such as en or de-CH (BCP 47)'],
          ['display.1.logo.uri', 'is required'],
          ['display.2.background_color', 'must be a color like #a1b2c3'],
        ],
      ]);
    });
  });
});

describe('the token endpoint refuses', () => {
  const grant = (code: string, more: Record<string, string> = {}) => ({
    grant_type: PRE_AUTHORIZED,
    'pre-authorized_code': code,
    ...more,
  });

  it('a code that was already redeemed, also concurrently', async () => {
    const code = codeOf((await offerOf(['jwt did:web'])).uri);
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(grant(code))));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(400)]);
    for (const answer of answers) if (answer.status === 400) expectOAuthError(answer, 400, 'invalid_grant');
  });

  it('a code of a deleted offer', async () => {
    const offer = await offerOf(['jwt did:web']);
    expect((await tenant.api.offers.delete(offer.id)).status).toBe(204);
    expectOAuthError(await exchange(grant(codeOf(offer.uri))), 400, 'invalid_grant');
    expect((await tenant.api.offers.delete(offer.id)).status).toBe(404);
  });

  it('a code whose offer has expired', async () => {
    const { uri, uriByReference, expiresAt } = await offerOf(['jwt did:web'], { expiresIn: { seconds: 1 } });
    const remaining = Date.parse(expiresAt) - Date.now();
    expect(remaining).toBeLessThanOrEqual(1000);
    const reference = new URL(uriByReference).searchParams.get('credential_offer_uri')!;
    await waitUntil(async () => (await hostFetch(reference)).status === 404, { what: 'the end of the offer' });
    expectOAuthError(await exchange(grant(codeOf(uri))), 400, 'invalid_grant');
  });

  it('unknown codes, and those of another tenant', async () => {
    expectOAuthError(await exchange(grant('nonsense')), 400, 'invalid_grant');
    const other = await createTenantUnderTest(platform, management, 'college');
    expectStatus(await other.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    const { issuerDid: _, ...body } = request('A', '');
    const theirs = expectStatus(await other.api.jwtVc.create(body as never), 201);
    const offer = expectStatus(await other.api.offers.create({ credentials: [theirs.id], claims }), 200);
    expectOAuthError(await exchange(grant(codeOf(offer.uri))), 400, 'invalid_grant');
    // It is still valid at its own tenant.
    expect((await new Wallet().collect(offer.uri)).credentials).toHaveLength(1);
  });

  it('every transaction code after the third wrong one', async () => {
    const { uri, transactionCode } = await offerOf(['jwt did:web'], { transactionCodeConfiguration: {} });
    const wrong = transactionCode === '000000' ? '000001' : '000000';
    for (let n = 0; n < 3; n++)
      expectOAuthError(await exchange(grant(codeOf(uri), { tx_code: wrong })), 400, 'invalid_grant');
    expectOAuthError(await exchange(grant(codeOf(uri), { tx_code: transactionCode! })), 400, 'invalid_grant');
  });

  it('a transaction code that is missing, or not expected', async () => {
    const withCode = await offerOf(['jwt did:web'], { transactionCodeConfiguration: {} });
    expectOAuthError(await exchange(grant(codeOf(withCode.uri))), 400, 'invalid_request');
    const without = await offerOf(['jwt did:web']);
    expectOAuthError(await exchange(grant(codeOf(without.uri), { tx_code: '123456' })), 400, 'invalid_request');
    // Neither ended the offer.
    expect((await exchange(grant(codeOf(without.uri)))).status).toBe(200);
  });

  it('other grants, no grant, repeated parameters, other media types and parameters in the query', async () => {
    expectOAuthError(
      await exchange({ grant_type: 'password', username: 'x', password: 'x' }),
      400,
      'unsupported_grant_type',
    );
    expectOAuthError(await exchange({ 'pre-authorized_code': 'x' }), 400, 'invalid_request');
    expectOAuthError(await exchange({ grant_type: PRE_AUTHORIZED }), 400, 'invalid_request');
    const post = (parts: object) => wire().request<OAuthBody>('POST', '/v1/oauth/token', parts);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const twice = `grant_type=${encodeURIComponent(PRE_AUTHORIZED)}&pre-authorized_code=a&pre-authorized_code=b`;
    expectOAuthError(await post({ headers, body: twice }), 400, 'invalid_request');
    expectOAuthError(await post({ body: { grant_type: PRE_AUTHORIZED } }), 400, 'invalid_request');
    const { uri } = await offerOf(['jwt did:web']);
    expectOAuthError(await post({ query: grant(codeOf(uri)), body: new URLSearchParams() }), 400, 'invalid_request');
  });

  it('authorization details for credentials that were not offered', async () => {
    const { uri } = await offerOf(['jwt did:web']);
    const details = (value: unknown) => exchange(grant(codeOf(uri), { authorization_details: JSON.stringify(value) }));
    const other = { type: 'openid_credential', credential_configuration_id: id('ldp did:web') };
    expectOAuthError(await details([other]), 400, 'invalid_authorization_details');
    expectOAuthError(await details([{ type: 'payment' }]), 400, 'invalid_authorization_details');
    expectOAuthError(await details('text'), 400, 'invalid_authorization_details');
  });
});

describe('the credential endpoint refuses', () => {
  let token: string;
  let key: HolderKey;
  beforeAll(async () => {
    token = await redeem((await offerOf(['jwt did:web'])).uri);
    key = await makeHolderKey();
  });
  const ask = async (jwts: unknown, more: object = {}) =>
    credential(token, { credential_configuration_id: id('jwt did:web'), proofs: { jwt: jwts }, ...more });

  it('requests that name no credential, name two, or are not JSON [T85]', async () => {
    const proofs = { jwt: [await proof(await nonce(), key)] };
    expectOAuthError(await credential(token, { proofs }), 400, 'invalid_credential_request');
    const both = { proofs, credential_configuration_id: id('jwt did:web'), credential_identifier: 'x' };
    expectOAuthError(await credential(token, both), 400, 'invalid_credential_request');
    expectOAuthError(await credential(token, '{"a'), 400, 'invalid_credential_request');
    expectOAuthError(await credential(token, '[]'), 400, 'invalid_credential_request');
    const plain = { headers: { 'content-type': 'text/plain' } };
    expectOAuthError(await credential(token, '{}', plain), 400, 'invalid_credential_request');
  });

  it('unknown configurations, and those the token does not cover', async () => {
    const proofs = { jwt: [await proof(await nonce(), key)] };
    const unknown = { credential_configuration_id: '3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11', proofs };
    expectOAuthError(await credential(token, unknown), 400, 'unknown_credential_configuration');
    const uncovered = { credential_configuration_id: id('ldp did:web'), proofs };
    expectOAuthError(await credential(token, uncovered), 403, 'insufficient_scope');
  });

  it('missing and empty proofs', async () => {
    const body = { credential_configuration_id: id('jwt did:web') };
    expectOAuthError(await credential(token, body), 400, 'invalid_proof');
    expectOAuthError(await ask([]), 400, 'invalid_proof');
  });

  const broken: [string, (cNonce: string) => Promise<string>][] = [
    ['of another type', (n) => proof(n, key, { header: { typ: 'JWT' } })],
    ['for another issuer', (n) => proof(n, key, { payload: { aud: 'https://elsewhere.example' } })],
    ['of yesterday', (n) => proof(n, key, { payload: { iat: Math.floor(Date.now() / 1000) - 86_400 } })],
    ['of tomorrow', (n) => proof(n, key, { payload: { iat: Math.floor(Date.now() / 1000) + 86_400 } })],
    ['without iat', (n) => proof(n, key, { payload: { iat: undefined } })],
    ['without nonce', () => proof(undefined, key)],
    ['signed by another key', async (n) => proof(n, key, { signer: await makeHolderKey() })],
    ['that names its key twice', (n) => proof(n, key, { header: { kid: 'did:jwk:e30#0' } })],
    ['that names no key', (n) => proof(n, key, { header: { jwk: undefined } })],
    [
      'with the private key in it',
      async (n) => {
        const { subtle } = globalThis.crypto;
        const jwk = await subtle.exportKey('jwk', key.privateKey);
        return proof(n, key, { header: { jwk } });
      },
    ],
    ['with an unknown critical header', (n) => proof(n, key, { header: { crit: ['exp'], exp: 1 } })],
    ['that is no JWT', () => Promise.resolve('a.b.c')],
    [
      'with alg none',
      async (n) => {
        const [, payload] = (await proof(n, key)).split('.');
        const header = { alg: 'none', typ: 'openid4vci-proof+jwt', jwk: key.publicJwk };
        return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.`;
      },
    ],
  ];
  it.each(broken)('a proof %s', async (_name, make) => {
    const cNonce = await nonce();
    expectOAuthError(await ask([await make(cNonce)]), 400, 'invalid_proof');
    // The refusal spent nothing: the nonce is valid for a correct proof.
    expect((await ask([await proof(cNonce, key)])).status).toBe(200);
  });

  it('a nonce that is unknown, or already spent, also concurrently', async () => {
    expectOAuthError(await ask([await proof('made-up', key)]), 400, 'invalid_nonce');
    const cNonce = await nonce();
    const one = await proof(cNonce, key);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask([one])));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(5).fill(400)]);
    expectOAuthError(await ask([await proof(cNonce, key)]), 400, 'invalid_nonce');
  });

  it('a batch that is too large or repeats a key', async () => {
    const cNonce = await nonce();
    const same = [
      await proof(cNonce, key),
      await proof(cNonce, key, { payload: { iat: Math.floor(Date.now() / 1000) - 1 } }),
    ];
    expectOAuthError(await ask(same), 400, 'invalid_proof');
    const keys = await Promise.all(Array.from({ length: 11 }, () => makeHolderKey()));
    const many = await Promise.all(keys.map((one) => proof(cNonce, one)));
    expectOAuthError(await ask(many), 400, 'invalid_credential_request');
  });

  it('tokens that are invalid, taken from a code, or in the query', async () => {
    const body = { credential_configuration_id: id('jwt did:web'), proofs: { jwt: [await proof(await nonce(), key)] } };
    const wrong = await credential(`${token}x`, body);
    expectOAuthError(wrong, 401, 'invalid_token');
    expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"');
    const code = codeOf((await offerOf(['jwt did:web'])).uri);
    expectOAuthError(await credential(code, body), 401, 'invalid_token');
    const inAddress = await wire().request<OAuthBody>('POST', '/v1/openid/credential', {
      query: { access_token: token },
      body,
    });
    expectOAuthError(inAddress, 400, 'invalid_request');
  });

  it('an issuance without a required claim', async () => {
    const { api } = tenant;
    const { id: userId } = expectStatus(await api.users.create({ claims }), 201);
    const offer = await offerOf(['jwt did:web'], { claims: {}, userId });
    expectStatus(await api.users.update(userId, { claims: { other: 1 } }), 200);
    const mine = await redeem(offer.uri);
    const body = { credential_configuration_id: id('jwt did:web'), proofs: { jwt: [await proof(await nonce(), key)] } };
    expectOAuthError(await credential(mine, body), 400, 'credential_request_denied');
  });

  it('more credentials than the configuration allows per session', async () => {
    const { issuerDid: _, ...body } = request('Once', '');
    const once = expectStatus(await tenant.api.jwtVc.create({ ...body, maxIssuances: 1 } as never), 201).id;
    const offer = expectStatus(await tenant.api.offers.create({ credentials: [once], claims }), 200);
    const wallet = new Wallet();
    const { metadata, accessToken } = await wallet.collect(offer.uri);
    const jwt = await wallet.proof(metadata, once, key, await wallet.nonce(metadata));
    const answer = await credential(accessToken, { credential_configuration_id: once, proofs: { jwt: [jwt] } });
    expectOAuthError(answer, 400, 'credential_request_denied');
    expect((await tenant.api.jwtVc.delete(once)).status).toBe(204);
  });

  it('a configuration that was deleted after the offer', async () => {
    const { issuerDid: _, ...body } = request('Brief', '');
    const brief = expectStatus(await tenant.api.jwtVc.create(body as never), 201).id;
    const offer = expectStatus(await tenant.api.offers.create({ credentials: [brief], claims }), 200);
    const mine = await redeem(offer.uri);
    expect((await tenant.api.jwtVc.delete(brief)).status).toBe(204);
    // Another process of the service may take a second to see it.
    const answer = await waitUntil(
      async () => {
        const jwt = await proof(await nonce(), key);
        const given = await credential(mine, { credential_configuration_id: brief, proofs: { jwt: [jwt] } });
        return given.status !== 200 && given;
      },
      { timeoutMs: 10_000, what: 'the end of the configuration' },
    );
    expectOAuthError(answer, 400, 'unknown_credential_configuration');
  });
});

describe('issuers', () => {
  it('a DID that a configuration signs with can be deleted only after the configuration', async () => {
    const { did } = expectStatus(await tenant.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
    const configuration = expectStatus(await tenant.api.jwtVc.create(request('Held', did)), 201);
    expect((await tenant.api.dids.delete(did)).status).toBe(400);
    expect((await tenant.api.jwtVc.delete(configuration.id)).status).toBe(204);
    expect((await tenant.api.dids.delete(did)).status).toBe(204);
    expect((await tenant.api.dids.retrieve(did)).status).toBe(404);
  });

  it('refuses unsupported members instead of ignoring them', async () => {
    const { issuerDid: _, ...body } = request('Later', '');
    for (const more of [{ persist: true }]) {
      const answer = await tenant.api.jwtVc.create({ ...body, ...more } as never);
      expect(answer.status).toBe(400);
      expect(answer.body).toMatchObject({ details: [{ param: Object.keys(more)[0], location: 'body' }] });
    }
  });

  it('every step of an issuance is in the audit trail', async () => {
    const { uri } = await offerOf(['jwt did:web']);
    await new Wallet().collect(uri);
    const { data } = (await tenant.api.client.call<{ data: { type: string }[] }>(listEvents, { query: { limit: 6 } }))
      .body;
    expect(data.map(({ type }) => type).reverse()).toEqual([
      'OPENID_PRE_AUTHORIZED_OFFER_CREATE_START',
      'OPENID_PRE_AUTHORIZED_OFFER_CREATE_SUCCESS',
      'OPENID_TOKEN_START',
      'OPENID_TOKEN_SUCCESS',
      'OPENID_CREDENTIAL_START',
      'OPENID_CREDENTIAL_SUCCESS',
    ]);
  });
});
