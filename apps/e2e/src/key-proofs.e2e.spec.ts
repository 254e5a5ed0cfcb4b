import { webcrypto } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  encryptCredentialRequest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  signJws,
  verifySdJwt,
  Wallet,
  WalletProvider,
  type HolderKey,
  type TenantUnderTest,
} from '@attestry/testing';
import { BasicConstraintsExtension, cryptoProvider, X509CertificateGenerator } from '@peculiar/x509';
import { SignJWT, type JWK, type JWTHeaderParameters } from 'jose';

const HIGH = { key_storage: ['iso_18045_high'], user_authentication: ['iso_18045_moderate'] };

let tenant: TenantUnderTest;
let other: TenantUnderTest;
let attester: WalletProvider;
/** Issues certificates of holders. */
let registrar: WalletProvider;
let attested: string;
let certified: string;
let plain: string;

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  [tenant, other, attester, registrar] = await Promise.all([
    createTenantUnderTest(platform, management, 'key-proofs'),
    createTenantUnderTest(platform, management, 'key-proofs-other'),
    WalletProvider.create(),
    WalletProvider.create(),
  ]);
  const create = async (type: string, more: object, of = tenant) => {
    const request = { type, name: type, issuer: { name: 'City' }, claimMappings: {} };
    return expectStatus(await of.api.sdJwt.create({ ...request, ...more }), 201).id;
  };
  const keyAttestation = {
    keyStorage: ['iso_18045_moderate', 'iso_18045_high'],
    userAuthentication: ['iso_18045_moderate'],
    rootCertificates: [attester.rootCertificate],
  };
  attested = await create('Attested', { keyAttestation });
  certified = await create('Certified', { proofRootCertificates: [registrar.rootCertificate] });
  plain = await create('Plain', {});
  await create('Attested', { keyAttestation }, other);
}, PLATFORM_START_MS);

/** A wallet with an access token. */
const start = async (configuration: string) => {
  const wallet = new Wallet();
  const { uri } = expectStatus(await tenant.api.offers.create({ credentials: [configuration] }), 200);
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const accessToken = await wallet.accessToken(offer, metadata);
  const nonce = () => wallet.nonce(metadata);
  return { wallet, metadata, accessToken, nonce, issuerMetadata: metadata, credentialConfigurationId: configuration };
};
interface Answered {
  credentials?: { credential: string }[];
  error?: string;
  error_description?: string;
}
/** Without a library, which would not send most of these. */
const send = async (configuration: string, token: string, proofs: object) => {
  const { status, body, headers } = await new ApiClient(tenant.url).request<Answered>('POST', '/v1/openid/credential', {
    token,
    body: { credential_configuration_id: configuration, ...proofs },
  });
  expect(headers.get('cache-control')).toBe('no-store');
  return { credentials: body.credentials, refusal: [status, body.error, body.error_description] };
};
const prove = (key: HolderKey, nonce: string, header: object = {}, aud = tenant.url) =>
  new SignJWT({ aud, nonce })
    .setIssuedAt()
    .setProtectedHeader({
      ...{ alg: key.algorithm, typ: 'openid4vci-proof+jwt', jwk: key.publicJwk, ...header },
    } as JWTHeaderParameters)
    .sign(key.privateKey);
const attest = (keys: readonly HolderKey[], nonce: string, claims: object = {}, header: object = {}, by = attester) =>
  by.attestKeys(
    keys.map(({ publicJwk }) => publicJwk),
    nonce,
    { ...HIGH, ...claims },
    header,
  );
const makeKeys = (count: number) => Promise.all(Array.from({ length: count }, () => makeHolderKey()));
/** Each credential is bound to its key, in this order. */
const expectBound = async (credentials: readonly { credential: string }[] | undefined, keys: readonly HolderKey[]) => {
  const bound = await Promise.all(
    (credentials ?? []).map(async ({ credential }, index) => (await verifySdJwt(credential, keys[index]!)).payload),
  );
  expect(bound.map(({ cnf }) => (cnf as { jwk: JWK }).jwk)).toEqual(keys.map(({ publicJwk }) => publicJwk));
};

describe('a third-party wallet library', () => {
  it('reads which attestations are required, and refuses to request a credential without [T381]', async () => {
    const { wallet, metadata, nonce } = await start(attested);
    const supported = metadata.credentialIssuer.credential_configurations_supported[attested] as Record<
      string,
      unknown
    >;
    const key_attestations_required = {
      key_storage: ['iso_18045_moderate', 'iso_18045_high'],
      user_authentication: ['iso_18045_moderate'],
    };
    const proof_signing_alg_values_supported = ['ES256'];
    expect(supported['proof_types_supported']).toEqual({
      jwt: { proof_signing_alg_values_supported, key_attestations_required },
      attestation: { proof_signing_alg_values_supported, key_attestations_required },
    });
    await expect(wallet.proof(metadata, attested, await makeHolderKey(), await nonce())).rejects.toThrow(
      "requires key attestations for 'jwt' proof type",
    );
  });

  it('obtains a credential for each key of an attestation in the header of its proof [T371]', async () => {
    const { wallet, metadata, nonce, ...request } = await start(attested);
    const keys = await makeKeys(3);
    const [proofNonce, attestationNonce] = [await nonce(), await nonce()];
    const jwt = await wallet.proof(metadata, attested, keys[0]!, proofNonce, await attest(keys, attestationNonce));
    const { credentialResponse } = await wallet.client.retrieveCredentials({ ...request, proofs: { jwt: [jwt] } });
    await expectBound(credentialResponse.credentials as { credential: string }[], keys);
  });

  it('obtains a credential for each key of a proof of type attestation [T370]', async () => {
    const { wallet, nonce, ...request } = await start(attested);
    const keys = await makeKeys(10);
    const proofs = { attestation: [await attest(keys, await nonce())] as [string] };
    const { credentialResponse } = await wallet.client.retrieveCredentials({ ...request, proofs });
    await expectBound(credentialResponse.credentials as { credential: string }[], keys);
  });

  it('obtains a credential with the single proof of earlier drafts, in the shape of OID4VCI 1.0 [T379]', async () => {
    const { wallet, metadata, nonce, ...request } = await start(plain);
    const key = await makeHolderKey();
    const jwt = await wallet.proof(metadata, plain, key, await nonce());
    const { credentialResponse } = await wallet.client.retrieveCredentials({
      ...request,
      proof: { proof_type: 'jwt', jwt },
    });
    expect(credentialResponse).not.toHaveProperty('credential');
    await expectBound(credentialResponse.credentials as { credential: string }[], [key]);
  });
});

describe('a key attestation', () => {
  it.each<[string, (keys: HolderKey[], nonce: () => Promise<string>) => Promise<object>, string, string]>([
    [
      'is missing [T377]',
      async ([key], nonce) => ({ jwt: [await prove(key!, await nonce())] }),
      'invalid_proof',
      'proof: key_attestation is missing: this credential configuration requires it',
    ],
    [
      'is the attestation of other keys [T371]',
      async ([key, ...others], nonce) => ({
        jwt: [await prove(key!, await nonce(), { key_attestation: await attest(others, await nonce()) })],
      }),
      'invalid_proof',
      'proof: the key must be one of attested_keys of the key attestation',
    ],
    [
      'has no end in the header of a proof [T371]',
      async ([key], nonce) => ({
        jwt: [
          await prove(key!, await nonce(), {
            key_attestation: await attest([key!], await nonce(), { exp: undefined }),
          }),
        ],
      }),
      'invalid_proof',
      'key attestation: exp is missing',
    ],
    [
      'is of another attester [T373]',
      async (keys, nonce) => ({ attestation: [await attest(keys, await nonce(), {}, {}, registrar)] }),
      'invalid_proof',
      'key attestation: x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'has the chain of the attester and the signature of another key [T373]',
      async (keys, nonce) => {
        const x5c = await attester.certify(keys[0]!.publicJwk);
        return { attestation: [await attest(keys, await nonce(), {}, { x5c })] };
      },
      'invalid_proof',
      'key attestation: the signature is invalid',
    ],
    [
      'has the type of a client attestation [T372]',
      async (keys, nonce) => ({
        attestation: [await attest(keys, await nonce(), {}, { typ: 'oauth-client-attestation+jwt' })],
      }),
      'invalid_proof',
      'key attestation: typ must be key-attestation+jwt',
    ],
    [
      'has no nonce [T375]',
      async (keys) => ({ attestation: [await attest(keys, '')] }),
      'invalid_proof',
      'key attestation: nonce is missing',
    ],
    [
      'has the nonce of another tenant [T375]',
      async (keys) => {
        const wallet = new Wallet();
        return { attestation: [await attest(keys, await wallet.nonce(await wallet.metadata(other.url)))] };
      },
      'invalid_nonce',
      'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
    ],
    [
      'asserts too little [T376]',
      async (keys, nonce) => ({
        attestation: [await attest(keys, await nonce(), { user_authentication: ['iso_18045_basic'] })],
      }),
      'invalid_proof',
      'key attestation: user_authentication must have one of: iso_18045_moderate',
    ],
    [
      'attests too many keys [T374] [T382]',
      async (_, nonce) => ({ attestation: [await attest(await makeKeys(11), await nonce())] }),
      'invalid_proof',
      'key attestation: attested_keys must be an array of 1 to 10 keys',
    ],
    [
      'attests a key that the format cannot use [T374]',
      async (keys, nonce) => ({ attestation: [await attest([...keys, await makeHolderKey('EdDSA')], await nonce())] }),
      'invalid_proof',
      'proof: the key must be a P-256 key (ES256) for this credential configuration',
    ],
    [
      'is one of two [T370]',
      async (keys, nonce) => ({ attestation: [await attest(keys, await nonce()), await attest(keys, await nonce())] }),
      'invalid_credential_request',
      'proofs.attestation must have exactly one entry',
    ],
    [
      'is beside a proof [T370]',
      async (keys, nonce) => ({
        attestation: [await attest(keys, await nonce())],
        jwt: [await prove(keys[0]!, await nonce())],
      }),
      'invalid_credential_request',
      'proofs must have exactly one member',
    ],
  ])('that %s is refused', async (_, make, error, description) => {
    const { accessToken, nonce } = await start(attested);
    const keys = await makeKeys(3);
    expect((await send(attested, accessToken, { proofs: await make(keys, nonce) })).refusal).toEqual([
      ...[400, error, description],
    ]);
    const { credentials } = await send(attested, accessToken, {
      proofs: { attestation: [await attest(keys, await nonce())] },
    });
    await expectBound(credentials, keys);
  });

  it('is used once [T375]', async () => {
    const { accessToken, nonce } = await start(attested);
    const keys = await makeKeys(2);
    const attestation = await attest(keys, await nonce());
    const used = [
      400,
      'invalid_nonce',
      'the c_nonce has already been used: get another from the nonce endpoint for each request',
    ];
    const [first, second] = await Promise.all(
      [0, 1].map(() => send(attested, accessToken, { proofs: { attestation: [attestation] } })),
    );
    expect([first!.credentials?.length, second!.credentials?.length].sort()).toEqual([2, undefined]);
    expect([first!.refusal, second!.refusal]).toContainEqual(used);
    const proof = await prove(keys[0]!, await nonce(), { key_attestation: attestation });
    expect((await send(attested, accessToken, { proofs: { jwt: [proof] } })).refusal).toEqual(used);
  });

  it('is missed in another configuration of the tenant: the answer to either has a warning [T748]', async () => {
    const request = { type: 'Mixed', name: 'Mixed', issuer: { name: 'City' }, claimMappings: {} };
    const made = expectStatus(await tenant.api.sdJwt.create(request), 201);
    const warning = { param: 'keyAttestation', msg: expect.stringContaining('EUDI wallets (from 0.12)') as string };
    expect(made.warnings).toEqual([warning]);
    const { warnings } = expectStatus(await tenant.api.sdJwt.update(made.id, request), 200);
    expect(warnings).toEqual([warning]);
    const { keyAttestation } = expectStatus(await tenant.api.sdJwt.retrieve(attested), 200);
    // The other way round: those that lack it are named.
    const after = expectStatus(await tenant.api.sdJwt.update(made.id, { ...request, keyAttestation }), 200);
    expect(after.warnings).toEqual([{ ...warning, msg: expect.stringContaining(plain) as string }]);
    expectStatus(await tenant.api.sdJwt.delete(made.id), 204);
  });

  it('is refused where none is required, and ignored in the header of a proof [T377]', async () => {
    const { accessToken, nonce } = await start(plain);
    const [key] = await makeKeys(1);
    const attestation = await attest([key!], await nonce());
    expect((await send(plain, accessToken, { proofs: { attestation: [attestation] } })).refusal).toEqual([
      ...[400, 'invalid_proof'],
      'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation',
    ]);
    // The keys of the attestation get nothing: only the proof counts.
    const [, another] = await makeKeys(2);
    const both = await attest([key!, another!], await nonce());
    const proof = await prove(key!, await nonce(), { key_attestation: both });
    const { credentials } = await send(plain, accessToken, { proofs: { jwt: [proof] } });
    await expectBound(credentials, [key!]);
  });
});

describe('a proof with the certificate of its key', () => {
  it('is bound to that key, under a root of the configuration [T378]', async () => {
    const { accessToken, nonce } = await start(certified);
    const keys = await makeKeys(2);
    const jwt = await Promise.all(
      keys.map(async (key) =>
        prove(key, await nonce(), { jwk: undefined, x5c: await registrar.certify(key.publicJwk) }),
      ),
    );
    await expectBound((await send(certified, accessToken, { proofs: { jwt } })).credentials, keys);
  });

  it.each<[string, (key: HolderKey) => Promise<object>, string]>([
    [
      'of another root',
      async ({ publicJwk }) => ({ x5c: await attester.certify(publicJwk) }),
      'x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'of another key',
      async () => ({ x5c: await registrar.certify((await makeHolderKey()).publicJwk) }),
      'the signature is invalid',
    ],
    [
      'that its holder signed',
      ({ publicJwk, privateKey }) => selfSigned(publicJwk, privateKey),
      'x5c certificate 1 must not be self-signed',
    ],
    [
      'and the key itself',
      async ({ publicJwk }) => ({ x5c: await registrar.certify(publicJwk), jwk: publicJwk }),
      'exactly one of kid, jwk and x5c is required',
    ],
  ])('%s is refused [T378]', async (_, make, fault) => {
    const { accessToken, nonce } = await start(certified);
    const key = await makeHolderKey();
    const jwt = await prove(key, await nonce(), { jwk: undefined, ...(await make(key)) });
    expect((await send(certified, accessToken, { proofs: { jwt: [jwt] } })).refusal).toEqual([
      ...[400, 'invalid_proof', `proof: ${fault}`],
    ]);
  });

  it('is refused where the configuration has no roots for it [T378]', async () => {
    const { accessToken, nonce } = await start(plain);
    const key = await makeHolderKey();
    const jwt = await prove(key, await nonce(), { jwk: undefined, x5c: await registrar.certify(key.publicJwk) });
    expect((await send(plain, accessToken, { proofs: { jwt: [jwt] } })).refusal).toEqual([
      ...[400, 'invalid_proof', 'proof: x5c is not supported'],
    ]);
  });
});

describe('the largest request that the metadata advertise [T712]', () => {
  const BATCH_SIZE = 10;
  const MAX_PROOF = 16_384;
  /** The JWT that `make` returns for a padding of its claims and its header, with exactly `length` characters. */
  const fill = async (length: number, make: (claims: object, header: object) => Promise<string>): Promise<string> => {
    // Base64url has no text of 4n + 1 characters, so that one of three headers fits.
    for (const header of ['', 'x', 'xx']) {
      const free = length - (await make({ padding: '' }, { padding: header })).length;
      for (const more of [-1, 0, 1]) {
        const jwt = await make({ padding: 'x'.repeat(Math.floor((free * 3) / 4) + more) }, { padding: header });
        if (jwt.length === length) return jwt;
      }
    }
    throw new Error(`no JWT has ${length} characters`);
  };
  const keyProof = (key: HolderKey, nonce: string, header: object = {}) =>
    fill(MAX_PROOF, (claims, padded) =>
      signJws(
        { typ: 'openid4vci-proof+jwt', alg: 'ES256', jwk: key.publicJwk, ...header, ...padded },
        { aud: tenant.url, iat: Math.floor(Date.now() / 1000), nonce, ...claims },
        key,
      ),
    );
  const forEach = (keys: HolderKey[], make: (key: HolderKey) => Promise<string>) => Promise.all(keys.map(make));

  const PROOFS: [string, () => string, (keys: HolderKey[], nonce: () => Promise<string>) => Promise<object>][] = [
    [
      'ten key proofs',
      () => plain,
      async (keys, nonce) => ({ jwt: await forEach(keys, async (key) => keyProof(key, await nonce())) }),
    ],
    [
      'ten key proofs with certificates',
      () => certified,
      async (keys, nonce) => ({
        jwt: await forEach(keys, async (key) =>
          keyProof(key, await nonce(), { jwk: undefined, x5c: await registrar.certify(key.publicJwk) }),
        ),
      }),
    ],
    [
      'ten key proofs with key attestations of ten keys',
      () => attested,
      async (keys, nonce) => ({
        jwt: await forEach(keys, async (key) => {
          const attestationNonce = await nonce();
          // Encoded twice, in the header of a proof of the maximum length.
          const key_attestation = await fill(11_400, (...padding) => attest(keys, attestationNonce, ...padding));
          return keyProof(key, await nonce(), { key_attestation });
        }),
      }),
    ],
    [
      'a key attestation of ten keys',
      () => attested,
      async (keys, nonce) => {
        const attestationNonce = await nonce();
        return { attestation: [await fill(MAX_PROOF, (...padding) => attest(keys, attestationNonce, ...padding))] };
      },
    ],
  ];

  it.each(PROOFS.flatMap(([name, ...row]) => ['clear', 'encrypted'].map((sent) => [name, sent, ...row] as const)))(
    '%s, %s, is answered with ten credentials',
    async (_, sent, configurationOf, make) => {
      const configuration = configurationOf();
      const { metadata, accessToken, nonce } = await start(configuration);
      const { batch_credential_issuance: batch, credential_request_encryption: encryption } =
        metadata.credentialIssuer as unknown as {
          batch_credential_issuance: { batch_size: number };
          credential_request_encryption: { jwks: { keys: JWK[] } };
        };
      expect(batch.batch_size).toBe(BATCH_SIZE);
      const keys = await makeKeys(BATCH_SIZE);
      const proofs = await make(keys, nonce);
      expect(Object.values(proofs as Record<string, string[]>).flatMap((of) => of.map(({ length }) => length))).toEqual(
        expect.arrayContaining([MAX_PROOF]),
      );
      const request = { credential_configuration_id: configuration, proofs };
      if (sent === 'clear') return expectBound((await send(configuration, accessToken, { proofs })).credentials, keys);
      const { jwe, decryptResponse } = await encryptCredentialRequest(encryption.jwks.keys[0]!, request);
      const answer = await new ApiClient(tenant.url).request<unknown>('POST', '/v1/openid/credential', {
        token: accessToken,
        body: jwe,
        headers: { 'content-type': 'application/jwt' },
      });
      expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
      await expectBound(((await decryptResponse(answer.text)) as Answered).credentials, keys);
    },
  );
});

const selfSigned = async (publicJwk: JWK, privateKey: CryptoKey) => {
  cryptoProvider.set(webcrypto as unknown as Crypto);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const { rawData } = await X509CertificateGenerator.create({
    ...{ subject: 'CN=Holder', issuer: 'CN=Holder', signingKey: privateKey, signingAlgorithm: algorithm },
    publicKey: await webcrypto.subtle.importKey('jwk', publicJwk as webcrypto.JsonWebKey, algorithm, true, ['verify']),
    ...{ notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) },
    extensions: [new BasicConstraintsExtension(false)],
  });
  return { x5c: [Buffer.from(rawData).toString('base64')] };
};
