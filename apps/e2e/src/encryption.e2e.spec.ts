import { createHash, randomUUID } from 'node:crypto';
import {
  ApiClient,
  connectManagement,
  createTenantUnderTest,
  expectStatus,
  makeHolderKey,
  PLATFORM_START_MS,
  sharedPlatform,
  verifyJwtVc,
  Wallet,
  type TenantUnderTest,
} from '@attestry/testing';
import {
  CompactEncrypt,
  compactDecrypt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  importJWK,
  SignJWT,
  type JWK,
} from 'jose';

interface Metadata {
  credential_request_encryption: { jwks: { keys: JWK[] } };
}
let tenant: TenantUnderTest;
let other: TenantUnderTest;
let configurationId: string;

const configure = async (at: TenantUnderTest) => {
  const { did } = expectStatus(await at.api.dids.create({ method: 'key', options: { keyType: 'P-256' } }), 201);
  const body = {
    type: 'Sealed',
    name: 'Sealed',
    issuer: { name: 'Acme' },
    issuerDid: did,
    claimMappings: { name: { mapFrom: 'claims.name' } },
  };
  return expectStatus(await at.api.jwtVc.create(body), 201).id;
};
const keyOf = async ({ url }: TenantUnderTest): Promise<JWK> => {
  const path = '/.well-known/openid-credential-issuer';
  const metadata = expectStatus(await new ApiClient(url).request<Metadata>('GET', path), 200);
  return metadata.credential_request_encryption.jwks.keys[0]!;
};
const encrypt = async (jwk: JWK, body: unknown, header: object = {}) =>
  new CompactEncrypt(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))
    .setProtectedHeader({ alg: 'ECDH-ES', enc: 'A256GCM', kid: jwk.kid!, ...header })
    .encrypt(await importJWK(jwk, 'ECDH-ES'));
/** A JWE whose header is replaced: the body of an attack, refused before decryption. */
const withHeader = (jwe: string, change: (header: Record<string, unknown>) => object) => {
  const header = Buffer.from(JSON.stringify(change({ ...decodeProtectedHeader(jwe) }))).toString('base64url');
  return [header, ...jwe.split('.').slice(1)].join('.');
};
const send = (token: string, body: string, mediaType = 'application/jwt') =>
  new ApiClient(tenant.url).request<unknown>('POST', '/v1/openid/credential', {
    token,
    body,
    headers: { 'content-type': mediaType },
  });
/**
 * Offer, metadata, token and proof by the third-party wallet library (@openid4vc/openid4vci 0.4.6). It has no encrypted credential requests and
 * its `credential_response_encryption` has an `alg` beside the key, as drafts before 1.0 had, so `jose` encrypts and decrypts.
 */
const prepareRequest = async (wallet = new Wallet()) => {
  const { uri } = expectStatus(
    await tenant.api.offers.create({ credentials: [configurationId], claims: { name: 'Zoë' } }),
    200,
  );
  const offer = await wallet.resolveOffer(uri);
  const metadata = await wallet.metadata(offer.credential_issuer);
  const token = await wallet.accessToken(offer, metadata);
  const holder = await makeHolderKey();
  const proof = await wallet.proof(metadata, configurationId, holder, await wallet.nonce(metadata));
  return { token, holder, body: { credential_configuration_id: configurationId, proofs: { jwt: [proof] } } };
};

beforeAll(async () => {
  const platform = await sharedPlatform();
  const management = await connectManagement(platform);
  tenant = await createTenantUnderTest(platform, management, 'encryption');
  other = await createTenantUnderTest(platform, management, 'encryption-other');
  configurationId = await configure(tenant);
  await configure(other);
}, PLATFORM_START_MS);

describe('encrypted requests and responses', () => {
  it.each([
    ['A128GCM', {}],
    ['A256GCM', { zip: 'DEF' }],
  ])('a wallet obtains a credential in an encrypted response: %s [T89, T90]', async (enc, more) => {
    const { token, body, holder } = await prepareRequest();
    const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ECDH-ES', use: 'enc', kid: 'wallet-1' };
    const wanted = { ...body, credential_response_encryption: { jwk, enc, ...more } };
    const answer = await send(token, await encrypt(await keyOf(tenant), wanted, { enc, ...more }));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/jwt');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    const jwe = answer.text;
    expect(decodeProtectedHeader(jwe)).toMatchObject({ alg: 'ECDH-ES', enc, kid: 'wallet-1', ...more });
    const { credentials } = JSON.parse(Buffer.from((await compactDecrypt(jwe, privateKey)).plaintext).toString()) as {
      credentials: { credential: string }[];
    };
    expect(credentials).toHaveLength(1);
    const { payload } = await verifyJwtVc(credentials[0]!.credential);
    expect(JSON.stringify(payload)).toContain('Zoë');
    expect(holder.publicJwk.crv).toBe('P-256');
  });

  it('are the same for a token that is bound to a DPoP key [T87, T90]', async () => {
    const key = await makeHolderKey();
    const { token, body } = await prepareRequest(new Wallet(undefined, undefined, key));
    const dpop = await new SignJWT({
      ...{ htm: 'POST', htu: `${tenant.url}/v1/openid/credential`, jti: randomUUID() },
      ...{ iat: Math.floor(Date.now() / 1000), ath: createHash('sha256').update(token).digest('base64url') },
    })
      .setProtectedHeader({ typ: 'dpop+jwt', alg: 'ES256', jwk: key.publicJwk })
      .sign(key.privateKey);
    const { publicKey, privateKey } = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
    const jwk = { ...(await exportJWK(publicKey)), alg: 'ECDH-ES' };
    const wanted = { ...body, credential_response_encryption: { jwk, enc: 'A256GCM' } };
    const answer = await new ApiClient(tenant.url).request<unknown>('POST', '/v1/openid/credential', {
      body: await encrypt(await keyOf(tenant), wanted),
      headers: { 'content-type': 'application/jwt', authorization: `DPoP ${token}`, dpop },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/jwt']);
    expect(answer.headers.get('dpop-nonce')).not.toBeNull();
    const { plaintext } = await compactDecrypt(answer.text, privateKey);
    expect(JSON.parse(Buffer.from(plaintext).toString())).toEqual({
      credentials: [{ credential: expect.any(String) }],
      notification_id: expect.any(String),
    });
  });

  it('an encrypted request may have a plain response [T89]', async () => {
    const { token, body } = await prepareRequest();
    const answer = await send(token, await encrypt(await keyOf(tenant), body));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  });

  it('every attack is a plain invalid_encryption_parameters, and spends nothing [T316]', async () => {
    const { token, body } = await prepareRequest();
    const key = await keyOf(tenant);
    const jwe = await encrypt(key, body);
    const { publicKey } = await generateKeyPair('ECDH-ES', { crv: 'P-384', extractable: true });
    const p384 = { ...(await exportJWK(publicKey)), kid: key.kid! };
    const unknown = 'kid is not a current key of credential_request_encryption in the metadata';
    const attacks: [string, string][] = [
      [await encrypt(await keyOf(other), body), unknown],
      [withHeader(jwe, (header) => ({ ...header, kid: 'k'.repeat(10_000) })), unknown],
      [await encrypt(p384, body), 'epk must be a public key on P-256'],
      [withHeader(jwe, (header) => ({ ...header, alg: 'dir' })), 'alg must be ECDH-ES'],
      [withHeader(jwe, (header) => ({ ...header, alg: 'RSA-OAEP' })), 'alg must be ECDH-ES'],
      [withHeader(jwe, (header) => ({ ...header, alg: 'PBES2-HS256+A128KW', p2c: 1e9 })), 'alg must be ECDH-ES'],
      [withHeader(jwe, (header) => ({ ...header, crit: ['b64'] })), 'critical header parameters are not supported'],
      [withHeader(jwe, (header) => ({ ...header, cty: 'x' })), 'the JWE cannot be decrypted with the key of its kid'],
      [
        withHeader(jwe, (header) => ({ ...header, x: 'x'.repeat(263_000) })),
        'the JWE must have at most 350000 characters',
      ],
      [
        await encrypt(key, ' '.repeat(20_000_000), { zip: 'DEF' }),
        'the request must have at most 262144 bytes inflated',
      ],
    ];
    for (const [attack, description] of attacks) {
      const answer = await send(token, attack);
      expect([answer.status, answer.headers.get('content-type'), answer.body]).toEqual([
        400,
        'application/json; charset=utf-8',
        { error: 'invalid_encryption_parameters', error_description: description },
      ]);
    }
    const unencrypted = { ...body, credential_response_encryption: { jwk: key, enc: 'A128GCM' } };
    expect((await send(token, JSON.stringify(unencrypted), 'application/json')).body).toEqual({
      error: 'invalid_encryption_parameters',
      error_description: 'credential_response_encryption is only allowed in an encrypted request',
    });
    // Beyond the endpoint's limit nothing is read.
    expect((await send(token, 'x'.repeat(400_000))).status).toBe(413);
    // An error of an encrypted request is plain, too.
    const wrong = await encrypt(key, { ...body, proofs: {} });
    expect((await send(token, wrong)).body).toMatchObject({ error: 'invalid_proof' });
    expect((await send(token, jwe)).status).toBe(200);
  });
});
