import { generateKeyPairSync, webcrypto, type KeyObject } from 'node:crypto';
import { BasicConstraintsExtension, cryptoProvider, Extension, X509CertificateGenerator } from '@peculiar/x509';
import { CompactSign, exportJWK, type JWK } from 'jose';
import { AppError, BATCH_SIZE, MAX_PROOF_LENGTH, type KeyRequirements } from '@attestry/contracts';
import { encodeDidJwk, encodeDidKey, encodeMultikey, jwkThumbprint, type PublicJwk } from '@attestry/keys';
import { PROOF_ALGORITHMS, type ProofAlgorithm } from '../../formats/proof-types.js';
import { makeNonce } from '../../wallets/nonce/nonce.js';
import type { RequestedProofs } from './parse-credential-request.js';
import { KeyAttestations } from './verify-key-attestation.js';
import { verifyProofs } from './verify-proofs.js';

cryptoProvider.set(webcrypto as unknown as Crypto);
const NOW = new Date('2026-06-01T12:00:00Z');
const SECONDS = NOW.getTime() / 1000;
const ISSUER = 'https://acme.example';
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

// --- certificates

const newKeys = async (namedCurve = 'P-256') =>
  (await webcrypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
interface Certified {
  keys: webcrypto.CryptoKeyPair;
  pem: string;
  /** Base64 DER, followed by those above it, without the root. */
  x5c: string[];
}
const certify = async (
  name: string,
  issuer?: Certified & { name: string },
  { ends = '2027-01-01', keys, publicKey, ca = issuer === undefined, extensions = [] }: CertifyOptions = {},
): Promise<Certified & { name: string }> => {
  const own = keys ?? (await newKeys());
  const certificate = await X509CertificateGenerator.create({
    ...{ subject: `CN=${name}`, issuer: `CN=${issuer?.name ?? name}`, publicKey: publicKey ?? own.publicKey },
    ...{ signingKey: (issuer?.keys ?? own).privateKey, signingAlgorithm: ECDSA },
    ...{ notBefore: new Date('2026-01-01T00:00:00Z'), notAfter: new Date(`${ends}T00:00:00Z`) },
    extensions: [...(ca ? [new BasicConstraintsExtension(true, undefined, true)] : []), ...extensions],
  });
  const der = Buffer.from(certificate.rawData).toString('base64');
  return { name, keys: own, pem: certificate.toString('pem'), x5c: issuer ? [der, ...issuer.x5c] : [] };
};
interface CertifyOptions {
  ends?: string;
  keys?: webcrypto.CryptoKeyPair;
  publicKey?: CryptoKey;
  ca?: boolean;
  extensions?: Extension[];
}

type Authority = Awaited<ReturnType<typeof certify>>;
let root: Authority;
let attester: Authority;
let otherRoot: Authority;
beforeAll(async () => {
  [root, otherRoot] = await Promise.all([certify('Root'), certify('Other')]);
  attester = await certify('Attester', root);
});

// --- keys and nonces

interface Key {
  jwk: PublicJwk;
  privateKey: KeyObject;
  thumbprint: string;
}
const newKey = (kind: 'P-256' | 'Ed25519' = 'P-256'): Key => {
  const { publicKey, privateKey } =
    kind === 'P-256' ? generateKeyPairSync('ec', { namedCurve: 'P-256' }) : generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' }) as PublicJwk;
  return { jwk, privateKey, thumbprint: jwkThumbprint(jwk) };
};
const [A, B, C] = [newKey(), newKey(), newKey()];
const ED = newKey('Ed25519');

const macs = {
  mac: (text: string, context?: string) => ({ pepper: 'p1', mac: macOf(text, context) }),
  verifyMac: (text: string, { mac }: { mac: string }, context?: string) => mac === macOf(text, context),
};
const macOf = (text: string, context = '') =>
  Buffer.from(`${context}${text}`).toString('base64url').slice(0, 43).padEnd(43, 'A');
const nonceOf = (tenantId = 't1', expiresAt = new Date(NOW.getTime() + 1000)) =>
  makeNonce(macs as never, tenantId, expiresAt);

// --- proofs

type Changes = Record<string, unknown>;
const sign = async (header: Changes, payload: Changes, key: KeyObject | CryptoKey) =>
  new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader(JSON.parse(JSON.stringify({ alg: 'ES256', ...header })) as { alg: string })
    .sign(key, { crit: { x: true } });

const attestation = (
  keys: readonly unknown[],
  nonce: string | undefined,
  claims: Changes = {},
  header: Changes = {},
  key: KeyObject | CryptoKey = attester.keys.privateKey,
) =>
  sign(
    { typ: 'key-attestation+jwt', x5c: attester.x5c, ...header },
    { iat: SECONDS, exp: SECONDS + 60, nonce, attested_keys: keys, ...claims },
    key,
  );
const proof = (key: Key, nonce: string, header: Changes = {}, by: KeyObject | CryptoKey = key.privateKey) =>
  sign(
    { typ: 'openid4vci-proof+jwt', jwk: key.jwk, ...(key === ED && { alg: 'EdDSA' }), ...header },
    { aud: ISSUER, iat: SECONDS, nonce },
    by,
  );

const required = (more: Partial<NonNullable<KeyRequirements['keyAttestation']>> = {}): KeyRequirements => ({
  keyAttestation: { rootCertificates: [otherRoot.pem, root.pem], ...more },
});
const verify = async (
  type: RequestedProofs['type'],
  jwts: readonly (string | Promise<string>)[],
  requirements: KeyRequirements = required(),
  algorithms: readonly ProofAlgorithm[] = PROOF_ALGORITHMS,
) => {
  const requested = { type, jwts: await Promise.all(jwts.map(async (jwt) => jwt)) } as unknown as RequestedProofs;
  const expected = {
    issuer: ISSUER,
    isOtherName: async () => false,
    now: NOW,
    windowSeconds: 300,
    tenantId: 't1',
    algorithms,
  };
  const { holders, nonces } = await verifyProofs(requested, requirements, expected, macs as never);
  return {
    holders: holders.map(({ publicJwk }) => jwkThumbprint(publicJwk)),
    nonces: nonces.map(({ id }) => id),
    dids: holders.map(({ did }) => did),
  };
};
const refusalOf = async (attempt: Promise<unknown>): Promise<[string, string]> => {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof AppError) return [error.code!, error.message];
    throw error;
  }
  throw new Error('it was not refused');
};
const idOf = (nonce: string) => nonce.slice(0, nonce.indexOf('.p1.'));

describe('the proof type attestation', () => {
  it('is a key attestation, whose keys are the holders in their order [T370]', async () => {
    const nonce = nonceOf();
    expect(await verify('attestation', [attestation([B.jwk, ED.jwk, A.jwk], nonce)])).toEqual({
      holders: [B, ED, A].map(({ thumbprint }) => thumbprint),
      nonces: [idOf(nonce)],
      dids: [B, ED, A].map(({ jwk }) => encodeDidJwk(jwk)),
    });
  });

  it('need not have an end, may be signed under an intermediate CA, and its status is not read [T370] [T373]', async () => {
    const ca = await certify('CA', root, { ca: true });
    const signer = await certify('Signer', ca);
    const claims = {
      exp: undefined,
      iat: SECONDS - 86_400,
      nbf: SECONDS,
      status: { status_list: { idx: 1, uri: 'x' } },
    };
    const jwt = attestation([A.jwk], nonceOf(), claims, { x5c: signer.x5c }, signer.keys.privateKey);
    expect((await verify('attestation', [jwt])).holders).toEqual([A.thumbprint]);
  });

  it('may have the greatest number of keys, the latest times and the greatest length [T374] [T375] [T382]', async () => {
    const keys = Array.from({ length: BATCH_SIZE }, () => newKey().jwk);
    const times = { iat: SECONDS + 60, nbf: SECONDS + 60, exp: SECONDS + 1 };
    expect((await verify('attestation', [attestation(keys, nonceOf(), times)])).holders).toHaveLength(BATCH_SIZE);
    const nonce = nonceOf();
    const padded = (pad: number, inHeader = '') => attestation([A.jwk], nonce, { pad: 'x'.repeat(pad) }, { inHeader });
    const pad = Math.floor(((MAX_PROOF_LENGTH - (await padded(0)).length) * 3) / 4);
    // Base64url has no text of 4n + 1 characters: both parts are padded.
    const around = Array.from({ length: 48 }, (_, n) => padded(pad + (n >> 2) - 8, 'xxx'.slice(n & 3)));
    const longest = (await Promise.all(around)).find(({ length }) => length === MAX_PROOF_LENGTH)!;
    expect((await verify('attestation', [longest])).holders).toEqual([A.thumbprint]);
    expect(await refusalOf(verify('attestation', [padded(pad + 4)]))).toEqual([
      ...['invalid_proof', `key attestation: must have at most ${MAX_PROOF_LENGTH} characters`],
    ]);
  });

  it('is verified once for all proofs of a request [T371]', async () => {
    const attestations = new KeyAttestations(required().keyAttestation!, NOW);
    const jwt = await attestation([A.jwk], nonceOf());
    expect(await attestations.verify(jwt, 'header')).toBe(await attestations.verify(jwt, 'header'));
  });

  it('is refused by a check that the log names', async () => {
    const nameOf = (attempt: Promise<unknown>) => attempt.catch((error: AppError) => error.check);
    expect(await nameOf(verify('attestation', ['a.b']))).toBe('verify-key-attestation');
    expect(await nameOf(verify('attestation', ['a.b'], {}))).toBe('verify-proofs');
    expect(await nameOf(verify('jwt', ['a.b']))).toBe('verify-jwt-proof');
  });

  it('is refused where the configuration requires no attestation [T377]', async () =>
    expect(await refusalOf(verify('attestation', [attestation([A.jwk], nonceOf())], {}))).toEqual([
      'invalid_proof',
      'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation',
    ]));

  it.each<[string, () => Promise<string>, string]>([
    ['no JWS [T372]', async () => 'a.b', 'must be a compact JWS'],
    [
      'another type [T372]',
      () => attestation([A.jwk], nonceOf(), {}, { typ: 'keyattestation+jwt' }),
      'typ must be key-attestation+jwt',
    ],
    [
      'the type of a key proof [T372]',
      () => attestation([A.jwk], nonceOf(), {}, { typ: 'openid4vci-proof+jwt' }),
      'typ must be key-attestation+jwt',
    ],
    [
      'another algorithm [T372]',
      () => attestation([A.jwk], nonceOf(), {}, { alg: 'EdDSA' }, ED.privateKey),
      'alg must be ES256',
    ],
    [
      'critical parameters [T372]',
      () => attestation([A.jwk], nonceOf(), {}, { crit: ['x'], x: true }),
      'critical header parameters are not supported',
    ],
    [
      'another encoding of the payload [T372]',
      () => attestation([A.jwk], nonceOf(), {}, { b64: true }),
      'critical header parameters are not supported',
    ],
    ['a beginning in text [T375]', () => attestation([A.jwk], nonceOf(), { nbf: '1' }), 'nbf has not been reached'],
    ['no date [T375]', () => attestation([A.jwk], nonceOf(), { iat: undefined }), 'iat is missing'],
    ['a date in text [T375]', () => attestation([A.jwk], nonceOf(), { iat: String(SECONDS) }), 'iat is missing'],
    [
      'a date in the future [T375]',
      () => attestation([A.jwk], nonceOf(), { iat: SECONDS + 61 }),
      'iat must not be in the future',
    ],
    [
      'a later beginning [T375]',
      () => attestation([A.jwk], nonceOf(), { nbf: SECONDS + 61 }),
      'nbf has not been reached',
    ],
    ['its end [T375]', () => attestation([A.jwk], nonceOf(), { exp: SECONDS }), 'exp has passed'],
    ['an end in text [T375]', () => attestation([A.jwk], nonceOf(), { exp: String(SECONDS + 60) }), 'exp has passed'],
    ['no nonce [T375]', () => attestation([A.jwk], undefined), 'nonce is missing'],
    ['an empty nonce [T375]', () => attestation([A.jwk], ''), 'nonce is missing'],
    ['no keys [T374]', () => attestation([], nonceOf()), `attested_keys must be an array of 1 to ${BATCH_SIZE} keys`],
    [
      'keys outside of an array [T374]',
      () => attestation([], nonceOf(), { attested_keys: A.jwk }),
      `attested_keys must be an array of 1 to ${BATCH_SIZE} keys`,
    ],
    [
      'too many keys [T374] [T382]',
      () =>
        attestation(
          Array.from({ length: BATCH_SIZE + 1 }, () => newKey().jwk),
          nonceOf(),
        ),
      `attested_keys must be an array of 1 to ${BATCH_SIZE} keys`,
    ],
    [
      'one key twice [T374]',
      () => attestation([A.jwk, B.jwk, { ...A.jwk, kid: 'other' }], nonceOf()),
      'attested_keys must not repeat a key',
    ],
    ...[
      null,
      'x',
      { kty: 'oct', k: 'x' },
      { ...A.jwk, d: 'x' },
      { ...A.jwk, y: A.jwk.x },
      generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }),
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }),
    ].map((key): [string, () => Promise<string>, string] => [
      `the key ${JSON.stringify(key)?.slice(0, 30)} [T374]`,
      () => attestation([A.jwk, key], nonceOf()),
      'attested_keys must contain only public P-256 or Ed25519 keys',
    ]),
    [
      'no chain [T373]',
      () => attestation([A.jwk], nonceOf(), {}, { x5c: undefined, jwk: A.jwk }),
      'x5c must be an array of base64 certificates',
    ],
    [
      'numbers as chain [T373]',
      () => attestation([A.jwk], nonceOf(), {}, { x5c: [1] }),
      'x5c must be an array of base64 certificates',
    ],
    [
      'a chain of 6 certificates [T382]',
      () => attestation([A.jwk], nonceOf(), {}, { x5c: Array.from({ length: 6 }, () => 'AAAA') }),
      'x5c must have 1 to 5 certificates',
    ],
    [
      'a certificate of more than 4 KiB [T382]',
      () => attestation([A.jwk], nonceOf(), {}, { x5c: ['A'.repeat(5468)] }),
      'x5c certificate 1 must be base64 of at most 4096 bytes',
    ],
    [
      'the signature of another key [T373]',
      () => attestation([A.jwk], nonceOf(), {}, {}, A.privateKey),
      'the signature is invalid',
    ],
    [
      'another root [T373]',
      async () => {
        const signer = await certify('Signer', otherRoot);
        return attestation([A.jwk], nonceOf(), {}, { x5c: [signer.x5c[0]!, ...attester.x5c] }, signer.keys.privateKey);
      },
      'x5c certificate 2 must be the certificate of a CA',
    ],
    [
      'a certificate of a P-384 key [T372]',
      async () => {
        const signer = await certify('Signer', root, { keys: await newKeys('P-384') });
        return attestation([A.jwk], nonceOf(), {}, { x5c: signer.x5c });
      },
      'x5c must begin with the certificate of a P-256 key',
    ],
    [
      'an expired certificate [T373]',
      async () => {
        const signer = await certify('Signer', root, { ends: '2026-05-01' });
        return attestation([A.jwk], nonceOf(), {}, { x5c: signer.x5c }, signer.keys.privateKey);
      },
      'x5c certificate 1 must not be expired: it ended at 2026-05-01T00:00:00.000Z',
    ],
    [
      'a certificate of the signer that certifies another one [T373]',
      async () => {
        const signer = await certify('Signer', attester);
        return attestation([A.jwk], nonceOf(), {}, { x5c: signer.x5c }, signer.keys.privateKey);
      },
      'x5c certificate 2 must be the certificate of a CA',
    ],
  ])('with %s is refused', async (_, make, fault) =>
    expect(await refusalOf(verify('attestation', [make()]))).toEqual(['invalid_proof', `key attestation: ${fault}`]),
  );

  it('leads to a root of the configuration, which is valid [T373]', async () => {
    const fault = 'key attestation: x5c must be issued by a configured root certificate that is valid';
    const expired = await certify('Expired', undefined, { ends: '2026-05-01' });
    const signer = await certify('Signer', expired);
    const jwt = attestation([A.jwk], nonceOf(), {}, { x5c: signer.x5c }, signer.keys.privateKey);
    for (const rootCertificates of [[expired.pem], [otherRoot.pem]])
      expect(await refusalOf(verify('attestation', [jwt], required({ rootCertificates })))).toEqual([
        ...['invalid_proof', fault],
      ]);
  });

  it('has a nonce that this tenant issued and that has not expired [T375]', async () => {
    for (const nonce of ['x', nonceOf('t2'), nonceOf('t1', NOW)])
      expect(await refusalOf(verify('attestation', [attestation([A.jwk], nonce)]))).toEqual([
        'invalid_nonce',
        'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
      ]);
  });

  it.each<[Changes, Partial<NonNullable<KeyRequirements['keyAttestation']>>, string | undefined]>([
    [{}, {}, undefined],
    [{ key_storage: ['x'] }, {}, undefined],
    [{ key_storage: ['x', 'iso_18045_high'] }, { keyStorage: ['iso_18045_moderate', 'iso_18045_high'] }, undefined],
    [{}, { keyStorage: ['a', 'b'] }, 'key_storage must have one of: a, b'],
    [{ key_storage: 'a' }, { keyStorage: ['a'] }, 'key_storage must have one of: a'],
    [
      { key_storage: ['iso_18045_high'] },
      { keyStorage: ['iso_18045_basic'] },
      'key_storage must have one of: iso_18045_basic',
    ],
    [{ key_storage: [['a']] }, { keyStorage: ['a'] }, 'key_storage must have one of: a'],
    [{ user_authentication: ['u'] }, { userAuthentication: ['u'] }, undefined],
    [
      { key_storage: ['a'], user_authentication: ['A'] },
      { keyStorage: ['a'], userAuthentication: ['a'] },
      'user_authentication must have one of: a',
    ],
  ])('of %j satisfies %j unless: %s [T376]', async (claims, requirement, fault) => {
    const attempt = verify('attestation', [attestation([A.jwk], nonceOf(), claims)], required(requirement));
    if (fault === undefined) expect((await attempt).holders).toEqual([A.thumbprint]);
    else expect(await refusalOf(attempt)).toEqual(['invalid_proof', `key attestation: ${fault}`]);
  });
});

describe('the proof type jwt with key_attestation', () => {
  const attested = async (key: Key, keys: readonly Key[], header: Changes = {}) =>
    proof(key, nonceOf(), {
      key_attestation: await attestation(
        keys.map(({ jwk }) => jwk),
        nonceOf(),
      ),
      ...header,
    });

  it('has a credential for each attested key, whichever of them made the proof [T371]', async () => {
    const [own, ofAttestation] = [nonceOf(), nonceOf()];
    const jwt = proof(B, own, { key_attestation: await attestation([A.jwk, B.jwk], ofAttestation) });
    const { holders, nonces } = await verify('jwt', [jwt]);
    expect(holders).toEqual([A.thumbprint, B.thumbprint]);
    expect(nonces).toEqual([own, ofAttestation].map(idOf));
  });

  it('names its key by kid, too: a DID URL, the kid of the key, or its position [T371]', async () => {
    const nonce = nonceOf();
    const keys = [{ ...A.jwk, kid: '1' }, B.jwk, { ...C.jwk, kid: 'c' }];
    const key_attestation = await attestation(keys, nonce);
    const named = (kid: string, key: Key) => proof(key, nonce, { jwk: undefined, kid, key_attestation });
    const did = `${encodeDidKey(B.jwk)}#${encodeMultikey(B.jwk)}`;
    for (const [kid, key] of [
      ['0', A],
      ['1', A],
      ['2', C],
      ['c', C],
      [did, B],
    ] as const)
      expect((await verify('jwt', [named(kid, key)])).nonces).toEqual([idOf(nonce)]);
    expect((await verify('jwt', [named(did, B)])).dids).toEqual([
      ...[encodeDidJwk(A.jwk), encodeDidKey(B.jwk), encodeDidJwk(C.jwk)],
    ]);
    expect(await refusalOf(verify('jwt', [named('0', B)]))).toEqual([
      'invalid_proof',
      'proof: the signature is invalid',
    ]);
    for (const kid of ['3', '00', 'x', 'x0', '0x', '-1', 0 as never, null as never])
      expect(await refusalOf(verify('jwt', [named(kid, A)]))).toEqual([
        ...['invalid_proof', 'proof: kid is not a usable DID URL'],
      ]);
  });

  it('is one of several whose attestations are taken together, each key once [T371] [T382]', async () => {
    const nonce = nonceOf();
    const key_attestation = await attestation([A.jwk, B.jwk], nonce);
    const both = [A, B].map((key) => proof(key, nonce, { key_attestation }));
    expect((await verify('jwt', both)).holders).toEqual([A.thumbprint, B.thumbprint]);
    expect((await verify('jwt', [both[0]!, attested(C, [C, B])])).holders).toEqual([
      ...[A.thumbprint, B.thumbprint, C.thumbprint],
    ]);
    const many = (own: Key, length: number) =>
      attested(own, [own, ...Array.from({ length: length - 1 }, () => newKey())]);
    expect((await verify('jwt', [many(A, 5), many(B, 5)])).holders).toHaveLength(BATCH_SIZE);
    expect(await refusalOf(verify('jwt', [many(A, 5), many(B, 6)]))).toEqual([
      'invalid_proof',
      `key attestations must have at most ${BATCH_SIZE} keys together`,
    ]);
    expect(await refusalOf(verify('jwt', [attested(A, [A, B]), attested(A, [A, C])]))).toEqual([
      ...['invalid_proof', 'each proof must have a different key'],
    ]);
  });

  it.each<[string, () => Promise<string>, string]>([
    [
      'no attestation [T377]',
      () => proof(A, nonceOf()),
      'proof: key_attestation is missing: this credential configuration requires it',
    ],
    [
      'the attestation of another key [T371]',
      () => attested(A, [B]),
      'proof: the key must be one of attested_keys of the key attestation',
    ],
    [
      'a key that the attestation has not, by kid [T371]',
      () => attested(A, [B], { jwk: undefined, kid: encodeDidJwk(A.jwk) }),
      'proof: the key must be one of attested_keys of the key attestation',
    ],
    [
      'the signature of another attested key [T371]',
      async () => {
        const key_attestation = await attestation([A.jwk, B.jwk], nonceOf());
        return proof(A, nonceOf(), { key_attestation }, B.privateKey);
      },
      'proof: the signature is invalid',
    ],
    [
      'an attestation without an end [T371]',
      async () => proof(A, nonceOf(), { key_attestation: await attestation([A.jwk], nonceOf(), { exp: undefined }) }),
      'key attestation: exp is missing',
    ],
    [
      'an attestation without a nonce [T375]',
      async () => proof(A, nonceOf(), { key_attestation: await attestation([A.jwk], undefined) }),
      'key attestation: nonce is missing',
    ],
    [
      'an attestation that is no text [T372]',
      () => proof(A, nonceOf(), { key_attestation: { typ: 'x' } }),
      'key attestation: must be a compact JWS',
    ],
    [
      'an attestation in an array [T372]',
      async () => proof(A, nonceOf(), { key_attestation: [await attestation([A.jwk], nonceOf())] }),
      'key attestation: must be a compact JWS',
    ],
    [
      'an empty attestation [T372]',
      () => proof(A, nonceOf(), { key_attestation: '' }),
      'key attestation: must be a compact JWS',
    ],
    [
      'an attestation that is too long [T382]',
      () => proof(A, nonceOf(), { key_attestation: 'x'.repeat(MAX_PROOF_LENGTH + 1) }),
      `key attestation: must have at most ${MAX_PROOF_LENGTH} characters`,
    ],
    [
      'an attestation that the holder signed [T373]',
      async () => proof(A, nonceOf(), { key_attestation: await attestation([A.jwk], nonceOf(), {}, {}, A.privateKey) }),
      'key attestation: the signature is invalid',
    ],
    [
      'an attestation as the proof itself',
      () => attestation([A.jwk], nonceOf()),
      'proof: typ must be openid4vci-proof+jwt',
    ],
  ])('and %s is refused', async (_, make, fault) =>
    expect(await refusalOf(verify('jwt', [make()]))).toEqual(['invalid_proof', fault]),
  );

  it('and an attestation with a foreign or expired nonce is refused [T375]', async () => {
    for (const nonce of ['x', nonceOf('t2'), nonceOf('t1', NOW)]) {
      const key_attestation = await attestation([A.jwk], nonce);
      expect(await refusalOf(verify('jwt', [proof(A, nonceOf(), { key_attestation })]))).toEqual([
        'invalid_nonce',
        'the c_nonce is unknown or has expired: get one from the nonce endpoint for each request',
      ]);
    }
  });

  it('needs an attestation in each of its proofs [T377]', async () =>
    expect(await refusalOf(verify('jwt', [attested(A, [A]), proof(B, nonceOf())]))).toEqual([
      'invalid_proof',
      'proof: key_attestation is missing: this credential configuration requires it',
    ]));

  it('is a plain proof where the configuration requires no attestation, whatever the header is [T377]', async () => {
    for (const key_attestation of [await attestation([A.jwk, B.jwk], nonceOf()), '', null, 'x'.repeat(10_000)]) {
      const { holders, nonces } = await verify('jwt', [proof(A, nonceOf(), { key_attestation })], {});
      expect([holders, nonces.length]).toEqual([[jwkThumbprint(A.jwk)], 1]);
    }
  });
});

describe('the proof type jwt with x5c', () => {
  const certified = () => ({ proofRootCertificates: [root.pem] });
  const withChain = (chain: unknown, key: KeyObject | CryptoKey, header: Changes = {}) =>
    proof(A, nonceOf(), { jwk: undefined, x5c: chain, ...header }, key);

  it('is made with the key of its first certificate, under a root of the configuration [T378]', async () => {
    const leaf = await certify('Holder', await certify('CA', root, { ca: true }));
    const { kty, crv, x, y } = (await exportJWK(leaf.keys.publicKey)) as PublicJwk;
    const jwk = { kty, crv, x, y } as PublicJwk;
    const { holders, dids } = await verify('jwt', [withChain(leaf.x5c, leaf.keys.privateKey)], certified());
    expect(holders).toEqual([jwkThumbprint(jwk)]);
    expect(dids).toEqual([encodeDidJwk(jwk)]);
  });

  it('may have an Ed25519 key, and is not required by the roots [T378]', async () => {
    const keys = (await webcrypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
    const leaf = await certify('Holder', root, { publicKey: keys.publicKey });
    const jwk = (await exportJWK(keys.publicKey)) as JWK & PublicJwk;
    const { holders } = await verify('jwt', [withChain(leaf.x5c, keys.privateKey, { alg: 'EdDSA' })], certified());
    expect(holders).toEqual([jwkThumbprint(jwk)]);
    expect((await verify('jwt', [proof(A, nonceOf())], certified())).holders).toEqual([A.thumbprint]);
  });

  it('names an attested key where attestations are required [T371] [T378]', async () => {
    const leaf = await certify('Holder', root);
    const jwk = await exportJWK(leaf.keys.publicKey);
    const requirements = { ...required(), ...certified() };
    const made = async (keys: unknown[]) =>
      withChain(leaf.x5c, leaf.keys.privateKey, { key_attestation: await attestation(keys, nonceOf()) });
    expect((await verify('jwt', [made([jwk, A.jwk])], requirements)).holders).toHaveLength(2);
    expect(await refusalOf(verify('jwt', [made([A.jwk])], requirements))).toEqual([
      'invalid_proof',
      'proof: the key must be one of attested_keys of the key attestation',
    ]);
  });

  const leafWith = (options: CertifyOptions = {}, issuer = root) => certify('Holder', issuer, options);
  it.each<[string, () => Promise<string>, string]>([
    ['no chain', () => withChain('x', A.privateKey), 'x5c must be an array of base64 certificates'],
    ['an empty chain', () => withChain([], A.privateKey), 'x5c must have 1 to 5 certificates'],
    [
      'a chain of 6 certificates',
      () => withChain(Array(6).fill('AAAA'), A.privateKey),
      'x5c must have 1 to 5 certificates',
    ],
    [
      'a certificate of more than 4 KiB',
      () => withChain(['A'.repeat(5468)], A.privateKey),
      'x5c certificate 1 must be base64 of at most 4096 bytes',
    ],
    [
      'another key beside it',
      () => proof(A, nonceOf(), { x5c: ['AAAA'] }),
      'exactly one of kid, jwk and x5c is required',
    ],
    [
      'the signature of another key',
      async () => withChain((await leafWith()).x5c, A.privateKey),
      'the signature is invalid',
    ],
    [
      'an expired certificate',
      async () => {
        const leaf = await leafWith({ ends: '2026-05-01' });
        return withChain(leaf.x5c, leaf.keys.privateKey);
      },
      'x5c certificate 1 must not be expired: it ended at 2026-05-01T00:00:00.000Z',
    ],
    [
      'critical extensions',
      async () => {
        const extensions = ['1.2.3.4', '1.2.3.5'].map((type) => new Extension(type, true, new Uint8Array([5, 0])));
        const leaf = await leafWith({ extensions });
        return withChain(leaf.x5c, leaf.keys.privateKey);
      },
      'x5c certificate 1 must not have the critical extension 1.2.3.4, certificate 1 must not have the critical extension 1.2.3.5',
    ],
    [
      'another root',
      async () => {
        const leaf = await leafWith({}, otherRoot);
        return withChain(leaf.x5c, leaf.keys.privateKey);
      },
      'x5c must be issued by a configured root certificate that is valid',
    ],
    [
      'a self-signed certificate',
      async () => {
        const own = await certify('Own');
        return withChain([own.pem.replace(/-----[A-Z ]+-----|\s/g, '')], own.keys.privateKey);
      },
      'x5c certificate 1 must not be self-signed',
    ],
    [
      'the root itself',
      () => withChain([root.pem.replace(/-----[A-Z ]+-----|\s/g, '')], root.keys.privateKey),
      'x5c certificate 1 must not be the trust anchor itself',
    ],
    [
      'a P-384 key',
      async () => withChain((await leafWith({ keys: await newKeys('P-384') })).x5c, A.privateKey),
      'x5c must begin with the certificate of a P-256 or Ed25519 key',
    ],
    [
      'an RSA key',
      async () => {
        const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
        const spki = publicKey.export({ format: 'der', type: 'spki' });
        const rsa = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
        const imported = await webcrypto.subtle.importKey('spki', spki, rsa, true, ['verify']);
        return withChain((await leafWith({ publicKey: imported })).x5c, A.privateKey);
      },
      'x5c must begin with the certificate of a P-256 or Ed25519 key',
    ],
    [
      'the algorithm of another key',
      async () => withChain((await leafWith()).x5c, ED.privateKey, { alg: 'EdDSA' }),
      'alg does not match the key',
    ],
  ])('and %s is refused [T378]', async (_, make, fault) =>
    expect(await refusalOf(verify('jwt', [make()], certified()))).toEqual(['invalid_proof', `proof: ${fault}`]),
  );

  it('is refused where the configuration has no roots for it, also with those of attesters [T378]', async () => {
    const leaf = await leafWith();
    const made = async (header: Changes = {}) => withChain(leaf.x5c, leaf.keys.privateKey, header);
    const fault = ['invalid_proof', 'proof: x5c is not supported'];
    expect(await refusalOf(verify('jwt', [made()], {}))).toEqual(fault);
    const key_attestation = await attestation([await exportJWK(leaf.keys.publicKey)], nonceOf());
    expect(await refusalOf(verify('jwt', [made({ key_attestation })], required()))).toEqual(fault);
    expect(await refusalOf(verify('attestation', [attestation([A.jwk], nonceOf())], certified()))).toEqual([
      ...[
        'invalid_proof',
        'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation',
      ],
    ]);
  });
});

describe('the keys that credentials are bound to', () => {
  const refused = [
    'invalid_proof',
    'proof: the key must be a P-256 key (ES256) for this credential configuration',
  ] as const;

  it('are of the algorithms that the format announces, also those beside others [T496]', async () => {
    const nonce = nonceOf();
    const es256 = ['ES256'] as const;
    expect((await verify('jwt', [proof(A, nonce)], {}, es256)).holders).toEqual([A.thumbprint]);
    for (const [type, jwts, requirements] of [
      ['jwt', [proof(ED, nonce)], {}],
      ['jwt', [proof(A, nonce), proof(ED, nonce)], {}],
      ['attestation', [attestation([A.jwk, ED.jwk], nonce)], required()],
      ['jwt', [proof(A, nonce, { key_attestation: await attestation([A.jwk, ED.jwk], nonce) })], required()],
    ] as const)
      expect(await refusalOf(verify(type, jwts, requirements, es256))).toEqual(refused);
    expect((await verify('jwt', [proof(A, nonce), proof(ED, nonce)], {})).holders).toHaveLength(2);
  });
});
