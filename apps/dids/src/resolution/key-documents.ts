import { createPublicKey, type webcrypto } from 'node:crypto';
import { p384, p521 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { base58 } from '@scure/base';
import { decodeBls12381G2Multikey, decodeDidKey, InvalidKey } from '@attestry/keys';
import { didKeyOf } from '../did/did-document.js';

type Document = Record<string, unknown>;

const DID_V1 = 'https://www.w3.org/ns/did/v1';
const JWS_2020_V1 = 'https://w3id.org/security/suites/jws-2020/v1';
const SIGNING = ['authentication', 'assertionMethod', 'capabilityDelegation', 'capabilityInvocation'];
const allOf = (purposes: readonly string[], id: string) =>
  Object.fromEntries(purposes.map((purpose) => [purpose, [id]]));

/** Kinds of key that are resolved but never created here, by the first two bytes of the multikey; compressed points. */
const FOREIGN_CURVES: readonly [number, number, (point: Uint8Array) => unknown][] = [
  [0xe7, 0x01, (point) => secp256k1.Point.fromBytes(point)],
  [0x81, 0x24, (point) => p384.Point.fromBytes(point)],
  [0x82, 0x24, (point) => p521.Point.fromBytes(point)],
];
/** Length of the longest key, BLS12-381 G2; base58 takes quadratic time. */
const LONGEST_MULTIKEY = 140;

/** did:key Method v0.7 §3.1: the document is derived from the DID. @throws InvalidKey */
export const didKeyDocument = (did: string): Document => {
  const multikey = did.slice('did:key:'.length);
  if (multikey.length > LONGEST_MULTIKEY) return jwkKeyDocument(did, `${did}#${multikey}`);
  if (!/^z[1-9A-HJ-NP-Za-km-z]+$/.test(multikey))
    throw new InvalidKey('a multikey must be z followed by base58btc characters');
  const [first, second, ...key] = base58.decode(multikey.slice(1));
  const curve = FOREIGN_CURVES.find(([a, b]) => a === first && b === second);
  if (curve) {
    try {
      curve[2](Uint8Array.from(key));
    } catch (cause) {
      throw new InvalidKey('the key is not on its curve', { cause });
    }
    const id = `${did}#${multikey}`;
    return {
      '@context': [DID_V1, 'https://w3id.org/security/multikey/v1'],
      id: did,
      verificationMethod: [{ id, type: 'Multikey', controller: did, publicKeyMultibase: multikey }],
      ...allOf(SIGNING, id),
    };
  }
  const publicJwk = first === 0xeb ? decodeBls12381G2Multikey(multikey) : decodeDidKey(did);
  return didKeyOf({ keyId: '', algorithm: publicJwk.crv, publicJwk }).document;
};

/** Document of a key that is encoded as a JWK (`jwk_jcs-pub`). @throws InvalidKey */
const jwkKeyDocument = (did: string, id: string): Document => ({
  '@context': [DID_V1, JWS_2020_V1],
  id: did,
  verificationMethod: [{ id, type: 'JsonWebKey2020', controller: did, publicKeyJwk: decodeDidKey(did) }],
  ...allOf(SIGNING, id),
});

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

/** did:jwk Method, section Read: the JWK is the DID; `use` names its purpose. @throws InvalidKey */
export const didJwkDocument = (did: string): Document => {
  const jwk = jwkOf(did.slice('did:jwk:'.length));
  const id = `${did}#0`;
  return {
    '@context': [DID_V1, JWS_2020_V1],
    id: did,
    verificationMethod: [{ id, type: 'JsonWebKey2020', controller: did, publicKeyJwk: jwk }],
    ...(jwk['use'] !== 'enc' && allOf(['assertionMethod', ...SIGNING], id)),
    ...(jwk['use'] !== 'sig' && allOf(['keyAgreement'], id)),
  };
};

const jwkOf = (encoded: string): Record<string, unknown> => {
  if (!/^[A-Za-z0-9_-]+$/.test(encoded)) throw new InvalidKey('a did:jwk must be base64url');
  try {
    const jwk = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(encoded, 'base64url')),
    ) as Record<string, unknown>;
    if (PRIVATE_MEMBERS.some((member) => member in jwk)) throw new InvalidKey('the did:jwk must hold a public key');
    createPublicKey({ key: jwk as webcrypto.JsonWebKey, format: 'jwk' });
    return jwk;
  } catch (cause) {
    throw cause instanceof InvalidKey ? cause : new InvalidKey('the did:jwk holds no public key', { cause });
  }
};
