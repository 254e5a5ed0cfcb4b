import { generateKeyPairSync } from 'node:crypto';
import { p384, p521 } from '@noble/curves/nist.js';
import { base58 } from '@scure/base';
import { didKey } from '@attestry/testing';
import { InvalidKey } from '@attestry/keys';
import { didJwkDocument, didKeyDocument } from './key-documents.js';

const ED25519 = 'did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp';
const multikey = (...bytes: number[]) => `did:key:z${base58.encode(Uint8Array.from(bytes))}`;
const didJwk = (jwk: object) => `did:jwk:${Buffer.from(JSON.stringify(jwk)).toString('base64url')}`;
const sorted = (document: Record<string, unknown>) => ({
  ...document,
  '@context': [...(document['@context'] as string[])].sort(),
});

describe('did:key', () => {
  it('resolves to the same document as the library of Digital Bazaar [T22]', async () => {
    expect(sorted(didKeyDocument(ED25519))).toEqual(sorted(await didKey(ED25519)));
  });

  // Vectors of the did:key specification, and keys of curves that are never made here.
  it.each<[string, string]>([
    ['P-256', 'did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv'],
    ['secp256k1', 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme'],
    ['P-384', multikey(0x81, 0x24, ...p384.getPublicKey(p384.utils.randomSecretKey(), true))],
    ['P-521', multikey(0x82, 0x24, ...p521.getPublicKey(p521.utils.randomSecretKey(), true))],
    [
      'BLS12-381 G2',
      'did:key:zUC7K4ndUaGZgV7Cp2yJy6JtMoUHY6u7tkcSYUvPrEidqBmLCTLmi6d5WvwnUqejscAkERJ3bfjEiSYtdPkRSE8kSa11hFBr4sTgnbZ95SJj19PN2jdvJjyzpSZgxkyyxNnBNnY',
    ],
  ])('of %s has that key for every signing purpose', (_, did) => {
    const id = `${did}#${did.slice('did:key:'.length)}`;
    const document = didKeyDocument(did);
    expect(document).toMatchObject({ id: did, verificationMethod: [{ id, controller: did }] });
    for (const purpose of ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'])
      expect(document[purpose]).toEqual([id]);
    expect(document).not.toHaveProperty('keyAgreement');
  });

  it('of a key that is encoded as a JWK has that JWK for every signing purpose', () => {
    const did =
      'did:key:z2dmzD81cgPx8Vki7JbuuMmFYrWPgYoytykUZ3eyqht1j9KbsEYvdrjxMjQ4tpnje9BDBTzuNDP3knn6qLZErzd4bJ5go2CChoPjd5GAH3zpFJP5fuwSk66U5Pq6EhF4nKnHzDnznEP8fX99nZGgwbAh1o7Gj1X52Tdhf7U4KTk66xsA5r';
    const id = `${did}#${did.slice('did:key:'.length)}`;
    const publicKeyJwk = {
      ...{ kty: 'EC', crv: 'P-256', x: 'ngy44T1vxAT6Di4nr-UaM9K3Tlnz9pkoksDokKFkmNc' },
      y: 'QCRfOKlSM31GTkb4JHx3nXB4G_jSPMsbdjzlkT_UpPc',
    };
    const document = didKeyDocument(did);
    expect(document).toMatchObject({
      id: did,
      verificationMethod: [{ id, type: 'JsonWebKey2020', controller: did, publicKeyJwk }],
    });
    for (const purpose of ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'])
      expect(document[purpose]).toEqual([id]);
  });

  it('of X25519 has that key only for key agreement', () => {
    const did = 'did:key:z6LShs9GGnqk85isEBzzshkuVWrVKsRp24GnDuHk8QWkARMW';
    expect(didKeyDocument(did)).toMatchObject({
      id: did,
      verificationMethod: [],
      assertionMethod: [],
      keyAgreement: [{ id: `${did}#${did.slice(8)}`, type: 'X25519KeyAgreementKey2019' }],
    });
  });

  it.each([
    ['an identifier in another base', 'did:key:u6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp'],
    ['an identifier that is not a multikey', 'did:key:z'],
    ['an unknown key type', multikey(0x12, 0x34, ...new Uint8Array(32))],
    ['a secp256k1 point off the curve', multikey(0xe7, 0x01, 2, ...new Uint8Array(32).fill(0xff))],
    ['a BLS12-381 point off the curve', multikey(0xeb, 0x01, 0x9f, ...new Uint8Array(95).fill(0xff))],
    ['an identifier that is too long', `did:key:z${'2'.repeat(2000)}`],
  ])('is refused with %s', (_, did) => expect(() => didKeyDocument(did)).toThrow(InvalidKey));
});

describe('did:jwk', () => {
  const jwk = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' });

  it('resolves to the unchanged JWK, for every purpose', () => {
    const did = didJwk({ ...jwk, alg: 'ES384' });
    const id = `${did}#0`;
    expect(didJwkDocument(did)).toEqual({
      '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
      id: did,
      verificationMethod: [{ id, type: 'JsonWebKey2020', controller: did, publicKeyJwk: { ...jwk, alg: 'ES384' } }],
      authentication: [id],
      assertionMethod: [id],
      capabilityDelegation: [id],
      capabilityInvocation: [id],
      keyAgreement: [id],
    });
  });

  it('respects the use of the JWK', () => {
    expect(didJwkDocument(didJwk({ ...jwk, use: 'sig' }))).not.toHaveProperty('keyAgreement');
    const enc = didJwkDocument(didJwk({ ...jwk, use: 'enc' }));
    expect(enc).toHaveProperty('keyAgreement');
    expect(enc).not.toHaveProperty('assertionMethod');
  });

  it.each<[string, string]>([
    ['text that is not JSON', `did:jwk:${Buffer.from('{').toString('base64url')}`],
    ['an array', didJwk([])],
    ['null', `did:jwk:${Buffer.from('null').toString('base64url')}`],
    ['a private key', didJwk(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))],
    ['a symmetric key', didJwk({ kty: 'oct', k: 'AAAA' })],
    ['a point off its curve', didJwk({ ...jwk, y: jwk.x })],
    ['bytes that are not UTF-8', `did:jwk:${Buffer.from([0xff, 0xfe]).toString('base64url')}`],
    ['an empty identifier', 'did:jwk:'],
  ])('is refused with %s', (_, did) => expect(() => didJwkDocument(did)).toThrow(InvalidKey));
});
