import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import { base58 } from '@scure/base';
import { encodeMultikey, type PublicJwk } from '@attestry/keys';
import { didKeyOf, didWebDocument, shortKeyId, type NewDid, type VaultKey } from './did-document.js';

/** Ed25519 key of a seed (RFC 8410 PKCS#8). */
const ofSeed = (last: number) => {
  const seed = Buffer.alloc(32);
  seed[31] = last;
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
  return { privateKey, publicJwk: createPublicKey(privateKey).export({ format: 'jwk' }) as PublicJwk };
};
const ed25519 = ofSeed(0);
const p256Jwk: PublicJwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'igrFmi0whuihKnj9R3Om1SoMph72wUGeFaBbzG2vzns',
  y: 'efsX5b10x8yjyrj4ny3pGfLcY7Xby1KzgqOdqnsrJIM',
};
const x25519Jwk = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }) as PublicJwk;

/** Key of the did:key specification, section BLS 12-381: the JWK, and the same in base58. */
const blsJwk: PublicJwk = {
  kty: 'OKP',
  crv: 'Bls12381G2',
  x: 'tKWJu0SOY7onl4tEyOOH11XBriQN2JgzV-UmjgBMSsNkcAx3_l97SVYViSDBouTVBkBfrLh33C5icDD-4UEDxNO3Wn1ijMHvn2N63DU4pkezA3kGN81jGbwbrsMPpiOF',
};
const BLS_58 =
  '25EEkQtcLKsEzQ6JTo9cg4W7NHpaurn4Wg6LaNPFq6JQXnrP91SDviUz7KrJVMJd76CtAZFsRLYzvgX2JGxo2ccUHtuHk7ELCWwrkBDfrXCFVfqJKDootee9iVaF6NpdJtBE';

const p256Key: VaultKey = { keyId: 'kms-p', algorithm: 'P-256', publicJwk: p256Jwk };
const ed25519Key: VaultKey = { keyId: 'kms-e', algorithm: 'Ed25519', publicJwk: ed25519.publicJwk };
const blsKey: VaultKey = { keyId: 'kms-b', algorithm: 'Bls12381G2', publicJwk: blsJwk };
const x25519Key: VaultKey = { keyId: 'kms-x', algorithm: 'X25519', publicJwk: x25519Jwk };

describe('did:key', () => {
  // Test vectors of the did:key specification (ed25519-x25519.json): seed, DID, both public keys.
  it.each([
    [
      0,
      'z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp',
      '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
      'z6LShs9GGnqk85isEBzzshkuVWrVKsRp24GnDuHk8QWkARMW',
      '7By6kV2t2d188odEM4ExAve1UithKT6dLva4dwsDT3ak',
    ],
    [
      1,
      'z6MkjchhfUsD6mmvni8mCdXHw216Xrm9bQe2mBH1P5RDjVJG',
      '6ASf5EcmmEHTgDJ4X4ZT5vT6iHVJBXPg5AN5YoTCpGWt',
      'z6LSrHyXiPBhUbvPUtyUCdf32sniiMGPTAesgHrtEa4FePtr',
      'FcoNC5NqP9CePWbhfz95iHaEsCjGkZUioK9Ck7Qiw286',
    ],
    [
      4,
      'z6MkwW6aqMnjgrhJXFUko3NnZPGzVpkNzhYK7yEhnsibmLwL',
      'J3qYF7YJMKCqQke47UQwiHizgFUXapHxRxKmxbkar89x',
      'z6LSrGb3qm4xMCEBjvwkLb2WEcXfTM94Tu1RyGCbT5wbg8i9',
      'FbQtKTG6FjWSeYZyowWYv2KBcCbwmHqH6HUuxdJ4xkwP',
    ],
  ])('equals the test vector for the Ed25519 seed %i', (seed, multikey, publicKey, agreementMultikey, agreementKey) => {
    const did = `did:key:${multikey}`;
    const id = `${did}#${multikey}`;
    const agreementId = `${did}#${agreementMultikey}`;
    expect(didKeyOf({ ...ed25519Key, publicJwk: ofSeed(seed).publicJwk })).toEqual({
      did,
      keys: [
        {
          didDocumentKeyId: id,
          kmsKeyId: 'kms-e',
          algorithm: 'Ed25519',
          purposes: ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'],
        },
        { didDocumentKeyId: agreementId, kmsKeyId: 'kms-e', algorithm: 'X25519', purposes: ['keyAgreement'] },
      ],
      document: {
        '@context': [
          'https://www.w3.org/ns/did/v1',
          'https://w3id.org/security/suites/x25519-2019/v1',
          'https://w3id.org/security/suites/ed25519-2018/v1',
        ],
        id: did,
        verificationMethod: [{ id, controller: did, type: 'Ed25519VerificationKey2018', publicKeyBase58: publicKey }],
        authentication: [id],
        assertionMethod: [id],
        capabilityDelegation: [id],
        capabilityInvocation: [id],
        keyAgreement: [
          { id: agreementId, controller: did, type: 'X25519KeyAgreementKey2019', publicKeyBase58: agreementKey },
        ],
      },
    });
  });

  it('of a P-256 key contains only that key', () => {
    const multikey = 'zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv';
    const did = `did:key:${multikey}`;
    const id = `${did}#${multikey}`;
    const made = didKeyOf(p256Key);
    expect(made.document).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: did,
      verificationMethod: [{ id, controller: did, type: 'JsonWebKey2020', publicKeyJwk: p256Jwk }],
      authentication: [id],
      assertionMethod: [id],
      capabilityDelegation: [id],
      capabilityInvocation: [id],
    });
    expect(made.keys.map(({ kmsKeyId }) => kmsKeyId)).toEqual(['kms-p']);
  });

  it('of a BLS12-381 key contains only that key', () => {
    const multikey =
      'zUC7K4ndUaGZgV7Cp2yJy6JtMoUHY6u7tkcSYUvPrEidqBmLCTLmi6d5WvwnUqejscAkERJ3bfjEiSYtdPkRSE8kSa11hFBr4sTgnbZ95SJj19PN2jdvJjyzpSZgxkyyxNnBNnY';
    const did = `did:key:${multikey}`;
    const id = `${did}#${multikey}`;
    expect(didKeyOf(blsKey)).toEqual({
      did,
      keys: [
        {
          didDocumentKeyId: id,
          kmsKeyId: 'kms-b',
          algorithm: 'Bls12381G2',
          purposes: ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'],
        },
      ],
      document: {
        '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/bbs/v1'],
        id: did,
        verificationMethod: [{ id, controller: did, type: 'Bls12381G2Key2020', publicKeyBase58: BLS_58 }],
        authentication: [id],
        assertionMethod: [id],
        capabilityDelegation: [id],
        capabilityInvocation: [id],
      },
    });
  });
});

describe('did:web', () => {
  const did = 'did:web:acme.localhost%3A8080:a';
  const made = didWebDocument(did, [p256Key, ed25519Key, blsKey, x25519Key]);
  const [p, e, b, x] = made.keys.map(({ didDocumentKeyId }) => didDocumentKeyId) as [string, string, string, string];
  const x58 = base58.encode(Buffer.from(x25519Jwk.x, 'base64url'));

  it('has the keys, types and purposes of the platform', () => {
    expect(made.document).toEqual({
      '@context': [
        'https://www.w3.org/ns/did/v1',
        'https://w3id.org/security/suites/x25519-2019/v1',
        'https://w3id.org/security/suites/jws-2020/v1',
        'https://w3id.org/security/suites/ed25519-2018/v1',
        'https://w3id.org/security/bbs/v1',
        'https://w3id.org/security/multikey/v1',
      ],
      id: did,
      verificationMethod: [
        { id: p, controller: did, type: 'JsonWebKey2020', publicKeyJwk: p256Jwk },
        {
          id: e,
          controller: did,
          type: 'Ed25519VerificationKey2018',
          publicKeyBase58: '4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS',
        },
        { id: b, controller: did, type: 'Bls12381G2Key2020', publicKeyBase58: BLS_58 },
        // T788
        { id: `${p}-mk`, controller: did, type: 'Multikey', publicKeyMultibase: encodeMultikey(p256Jwk) },
        { id: `${e}-mk`, controller: did, type: 'Multikey', publicKeyMultibase: encodeMultikey(ed25519.publicJwk) },
      ],
      authentication: [e],
      assertionMethod: [p, e, b, `${p}-mk`, `${e}-mk`],
      capabilityDelegation: [p, e, b],
      capabilityInvocation: [p, e, b],
      keyAgreement: [{ id: x, controller: did, type: 'X25519KeyAgreementKey2019', publicKeyBase58: x58 }],
    });
  });

  it('names keys by ten characters of the key', () => {
    expect(e).toBe(`${did}#4zvwRjXUKG`);
    expect(b).toBe(`${did}#25EEkQtcLK`);
    expect(x).toBe(`${did}#${x58.slice(0, 10)}`);
    expect(p).toMatch(/#[1-9A-HJ-NP-Za-km-z]{10}$/);
    expect(made.keys.map(({ kmsKeyId, algorithm }) => [kmsKeyId, algorithm])).toEqual([
      ['kms-p', 'P-256'],
      ['kms-e', 'Ed25519'],
      ['kms-b', 'Bls12381G2'],
      ['kms-x', 'X25519'],
    ]);
  });

  it('never gives two keys the same name', () => {
    const twins = didWebDocument(did, [ed25519Key, { ...ed25519Key, keyId: 'twin' }]);
    expect(twins.keys.map(({ didDocumentKeyId }) => didDocumentKeyId)).toEqual([
      `${did}#4zvwRjXUKG`,
      `${did}#zvwRjXUKGf`,
    ]);
    expect(() => shortKeyId('abcdefghij', new Set(['abcdefghij']))).toThrow('already');
  });
});

// Uses the keys of a document as a browser and third-party libraries do.
describe('the keys of a did:web document', () => {
  const generated = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }) as PublicJwk;
  const { document } = didWebDocument('did:web:acme.example', [
    p256Key,
    { ...ed25519Key, publicJwk: generated },
    blsKey,
    x25519Key,
  ]);
  interface Shown {
    id: string;
    type: string;
    publicKeyJwk?: object;
    publicKeyBase58?: string;
  }
  const methods = [...(document['verificationMethod'] as Shown[]), ...(document['keyAgreement'] as Shown[])].filter(
    ({ type }) => type !== 'Multikey',
  );
  const [p, e, b, x] = methods as [Shown, Shown, Shown, Shown];
  const raw = (base: Shown) => Uint8Array.from(base58.decode(base.publicKeyBase58!));

  it('are imported by Web Crypto', async () => {
    const { subtle } = globalThis.crypto;
    const ec = { name: 'ECDSA', namedCurve: 'P-256' };
    expect(await subtle.importKey('jwk', p.publicKeyJwk!, ec, true, ['verify'])).toMatchObject({ type: 'public' });
    const ed = await subtle.importKey('raw', raw(e), 'Ed25519', true, ['verify']);
    expect((await subtle.exportKey('jwk', ed)).x).toBe(generated.x);
    const agreement = await subtle.importKey('raw', raw(x), 'X25519', true, []);
    expect((await subtle.exportKey('jwk', agreement)).x).toBe(x25519Jwk.x);
  });

  it('are read by the libraries of Digital Bazaar', async () => {
    const { Ed25519VerificationKey2018 } = (await import('@digitalbazaar/ed25519-verification-key-2018' as string)) as {
      Ed25519VerificationKey2018: { from(key: Shown): Promise<{ id: string; fingerprint(): string }> };
    };
    const ed = await Ed25519VerificationKey2018.from(e);
    expect([ed.id, ed.fingerprint()]).toEqual([e.id, encodeMultikey(generated)]);
    const bls = (await import('@digitalbazaar/bls12-381-multikey' as string)) as {
      fromRaw(key: { curve: string; publicKey: Uint8Array }): Promise<{ publicKeyMultibase: string }>;
    };
    expect((await bls.fromRaw({ curve: 'Bls12381G2', publicKey: raw(b) })).publicKeyMultibase).toBe(
      encodeMultikey(blsJwk),
    );
  });
});

// Verifies with these documents as an independent verifier does: VC Data Integrity with eddsa-rdfc-2022.
describe('a Data Integrity verifier', () => {
  type Method = { id: string };
  const { issue } = vc as unknown as {
    issue(options: object): Promise<Record<string, unknown>>;
  };
  const loaderOf =
    ({ did, document }: NewDid): vc.DocumentLoader =>
    async (url) => {
      if (!url.startsWith(did)) return vc.defaultDocumentLoader(url);
      const methods = document['verificationMethod'] as Method[];
      const found = url === did ? document : methods.find(({ id }) => id === url);
      return { contextUrl: null, documentUrl: url, document: structuredClone(found) };
    };
  const signed = async (made: NewDid, method: string, loader: vc.DocumentLoader) => {
    const signer = {
      id: method,
      algorithm: 'Ed25519',
      sign: async ({ data }: { data: Uint8Array }) => sign(null, data, ed25519.privateKey),
    };
    const credential = {
      '@context': ['https://www.w3.org/ns/credentials/v2', 'https://www.w3.org/ns/credentials/undefined-terms/v2'],
      type: ['VerifiableCredential'],
      issuer: made.did,
      credentialSubject: { id: 'did:example:holder', favourite: 'tea' },
    };
    const suite = new DataIntegrityProof({ cryptosuite, signer } as never);
    return issue({ credential, suite, documentLoader: loader });
  };

  it.each<[string, () => NewDid, string]>([
    ['did:key', () => didKeyOf(ed25519Key), 'z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'],
    ['did:web', () => didWebDocument('did:web:acme.example', [p256Key, ed25519Key, x25519Key]), '4zvwRjXUKG'],
  ])('finds the Ed25519 key of a %s, and refuses a forgery', async (_, make, fragment) => {
    const made = make();
    const loader = loaderOf(made);
    const credential = await signed(made, `${made.did}#${fragment}`, loader);
    const verify = (what: Record<string, unknown>) =>
      vc.verifyCredential({
        credential: what,
        suite: new DataIntegrityProof({ cryptosuite }),
        documentLoader: loader,
      });
    expect(await verify(credential)).toMatchObject({ verified: true });
    const forged = { ...credential, credentialSubject: { id: 'did:example:holder', favourite: 'coffee' } };
    expect(await verify(forged)).toMatchObject({ verified: false });
    // The key must also be listed under assertionMethod.
    made.document['assertionMethod'] = [];
    expect(await verify(credential)).toMatchObject({ verified: false });
  });
});
