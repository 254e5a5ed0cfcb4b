import { ECDH, createPublicKey, hash, type KeyObject, type webcrypto } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58 } from '@scure/base';
import { isBls12381G2Point } from './bls12381.js';
import type { KeyAlgorithm, PublicJwk } from '../vault/signing-keys.js';

/** A key, multikey or DID that is malformed, of an unknown kind, or not on its curve. */
export class InvalidKey extends Error {
  override readonly name = 'InvalidKey';
}

// --- base64url of a fixed number of bytes

const fromBase64url = (value: unknown, member: string, bytes: number): Buffer => {
  if (typeof value !== 'string') throw new InvalidKey(`${member} is missing`);
  const decoded = Buffer.from(value, 'base64url');
  // Node skips characters that are not base64url; encoding again reveals them, and also padding and unused bits.
  if (decoded.length !== bytes || decoded.toString('base64url') !== value)
    throw new InvalidKey(`${member} must be ${bytes} bytes in base64url`);
  return decoded;
};

// --- JWK

const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'] as const;

export interface ImportedKey {
  /** kty, crv, x and y only: the input of a thumbprint or a DID. */
  publicJwk: PublicJwk;
  publicKey: KeyObject;
}

/**
 * Reads an untrusted public JWK (RFC 7517, RFC 8037): P-256, Ed25519 or X25519, no private member, coordinates of 32 bytes, the point on
 * the curve and, for Ed25519, not of small order. Members such as `kid` and `alg` are omitted.
 * @throws InvalidKey
 */
export const importPublicJwk = (value: unknown): ImportedKey => {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidKey('a JWK must be an object');
  const jwk = value as Record<string, unknown>;
  for (const member of PRIVATE_MEMBERS)
    if (member in jwk) throw new InvalidKey(`a public key must not contain the private member ${member}`);
  const { kty, crv, x, y } = jwk;
  let publicJwk: PublicJwk;
  if (kty === 'EC' && crv === 'P-256') {
    fromBase64url(x, 'x', 32);
    fromBase64url(y, 'y', 32);
    publicJwk = { kty, crv, x: x as string, y: y as string };
  } else if (kty === 'OKP' && (crv === 'Ed25519' || crv === 'X25519')) {
    if (y !== undefined) throw new InvalidKey(`an ${crv} key must not have y`);
    const bytes = fromBase64url(x, 'x', 32);
    if (crv === 'Ed25519') assertEd25519Point(bytes);
    publicJwk = { kty, crv, x: x as string };
  } else throw new InvalidKey('the key must be P-256 (kty EC), Ed25519 or X25519 (kty OKP)');
  try {
    return { publicJwk, publicKey: createPublicKey({ key: publicJwk as webcrypto.JsonWebKey, format: 'jwk' }) };
  } catch (cause) {
    throw new InvalidKey(`the ${publicJwk.crv} key is not on its curve`, { cause });
  }
};

/** Required members of EC, OKP (RFC 8037 §2) and RSA keys: JSON.stringify writes those of a key in this order. */
const CANONICAL = ['crv', 'e', 'kty', 'n', 'x', 'y'];

/** RFC 7638: SHA-256 over the required members in lexicographic order, base64url. */
export const jwkThumbprint = (jwk: PublicJwk | { kty: 'RSA'; e: string; n: string }): string =>
  hash('sha256', JSON.stringify(jwk, CANONICAL), 'base64url');

// --- multikeys and did:key

/** Multicodec prefixes as unsigned varints: p256-pub 0x1200, ed25519-pub 0xed, x25519-pub 0xec, bls12_381-g2-pub 0xeb. */
const MULTICODEC: Readonly<Record<KeyAlgorithm, readonly [number, number]>> = {
  'P-256': [0x80, 0x24],
  Ed25519: [0xed, 0x01],
  X25519: [0xec, 0x01],
  Bls12381G2: [0xeb, 0x01],
};

/** `z` and base58btc of multicodec prefix and public key; a P-256 key is compressed. @throws InvalidKey */
export const encodeMultikey = (jwk: PublicJwk): string => {
  const x = fromBase64url(jwk.x, 'x', jwk.crv === 'Bls12381G2' ? 96 : 32);
  const parity = jwk.crv === 'P-256' ? [2 + (fromBase64url(jwk.y, 'y', 32)[31]! & 1)] : [];
  return `z${base58.encode(Uint8Array.from([...MULTICODEC[jwk.crv], ...parity, ...x]))}`;
};

/** Keys that sign or agree: not BLS12-381. @throws InvalidKey also when the key is not on its curve */
export const decodeMultikey = (multikey: string): PublicJwk => {
  // 48 characters are the longest of these keys; base58 takes quadratic time.
  if (!/^z[1-9A-HJ-NP-Za-km-z]{40,60}$/.test(multikey))
    throw new InvalidKey('a multikey must be z followed by base58btc characters');
  const bytes = base58.decode(multikey.slice(1));
  const key = bytes.subarray(2);
  const is = (algorithm: KeyAlgorithm, length: number) =>
    bytes[0] === MULTICODEC[algorithm][0] && bytes[1] === MULTICODEC[algorithm][1] && key.length === length;
  if (is('P-256', 33)) return decompressP256(key);
  const crv = is('Ed25519', 32) ? 'Ed25519' : is('X25519', 32) ? 'X25519' : undefined;
  if (!crv) throw new InvalidKey('the multikey must be a P-256, Ed25519 or X25519 key');
  if (crv === 'Ed25519') assertEd25519Point(key);
  return { kty: 'OKP', crv, x: Buffer.from(key).toString('base64url') };
};

/** The same for a BLS12-381 key in G2, which no proof of the platform accepts. @throws InvalidKey */
export const decodeBls12381G2Multikey = (multikey: string): PublicJwk => {
  if (!/^z[1-9A-HJ-NP-Za-km-z]{120,140}$/.test(multikey))
    throw new InvalidKey('a multikey must be z followed by base58btc characters');
  const bytes = base58.decode(multikey.slice(1));
  const [first, second] = MULTICODEC.Bls12381G2;
  const key = bytes.subarray(2);
  if (bytes[0] !== first || bytes[1] !== second || !isBls12381G2Point(key))
    throw new InvalidKey('the multikey must be a BLS12-381 key in G2');
  return { kty: 'OKP', crv: 'Bls12381G2', x: Buffer.from(key).toString('base64url') };
};

const decompressP256 = (compressed: Uint8Array): PublicJwk => {
  if (compressed[0] !== 2 && compressed[0] !== 3) throw new InvalidKey('the P-256 key must be compressed');
  let point: Buffer;
  try {
    point = ECDH.convertKey(compressed, 'prime256v1', undefined, undefined, 'uncompressed') as Buffer;
  } catch (cause) {
    throw new InvalidKey('the P-256 key is not on its curve', { cause });
  }
  return {
    kty: 'EC',
    crv: 'P-256',
    x: point.toString('base64url', 1, 33),
    y: point.toString('base64url', 33, 65),
  };
};

/** did:key Method v0.7 §3.1. */
export const encodeDidKey = (jwk: PublicJwk): string => `did:key:${encodeMultikey(jwk)}`;

/** A multikey, or a P-256 key as a JWK. @throws InvalidKey */
export const decodeDidKey = (did: string): PublicJwk => {
  if (!did.startsWith('did:key:')) throw new InvalidKey('not a did:key');
  const multikey = did.slice('did:key:'.length);
  return multikey.length > LONGEST_MULTIKEY ? decodeJwkMultikey(multikey) : decodeMultikey(multikey);
};

const LONGEST_MULTIKEY = 60;
/** jwk_jcs-pub 0xeb51. */
const JWK_JCS = Buffer.from([0xd1, 0xd6, 0x03]);

/** `jwk_jcs-pub`: the JWK in its canonical form (RFC 8785), so that one key has one such DID. @throws InvalidKey */
const decodeJwkMultikey = (multikey: string): PublicJwk => {
  // The canonical JWK of a P-256 key has 126 bytes; base58 takes quadratic time.
  if (!/^z[1-9A-HJ-NP-Za-km-z]{150,190}$/.test(multikey))
    throw new InvalidKey('a multikey must be z followed by base58btc characters');
  const bytes = Buffer.from(base58.decode(multikey.slice(1)));
  if (!bytes.subarray(0, JWK_JCS.length).equals(JWK_JCS))
    throw new InvalidKey('a multikey of this length must be a P-256 key as jwk_jcs-pub');
  const text = bytes.toString('utf8', JWK_JCS.length);
  let jwk: unknown;
  try {
    jwk = JSON.parse(text);
  } catch (cause) {
    throw new InvalidKey('the did:key does not hold JSON', { cause });
  }
  const { publicJwk } = importPublicJwk(jwk);
  if (publicJwk.crv !== 'P-256' || JSON.stringify(publicJwk, CANONICAL) !== text)
    throw new InvalidKey(
      'the did:key must hold the members crv, kty, x and y of a P-256 key in canonical form (RFC 8785)',
    );
  return publicJwk;
};

// --- did:jwk

/** base64url of the JWK's public members in lexicographic order, so that one key has one did:jwk here. */
export const encodeDidJwk = (jwk: PublicJwk): string =>
  `did:jwk:${Buffer.from(JSON.stringify(jwk, CANONICAL)).toString('base64url')}`;

/** Other implementations may order or add members; only the key in it counts. @throws InvalidKey */
export const decodeDidJwk = (did: string): PublicJwk => {
  const encoded = /^did:jwk:([A-Za-z0-9_-]{1,4096})$/.exec(did)?.[1];
  if (!encoded) throw new InvalidKey('not a did:jwk');
  let jwk: unknown;
  try {
    jwk = JSON.parse(Buffer.from(encoded, 'base64url').toString());
  } catch (cause) {
    throw new InvalidKey('the did:jwk does not hold JSON', { cause });
  }
  return importPublicJwk(jwk).publicJwk;
};

/**
 * The key of a `kid`: a did:key or did:jwk, with or without the fragment of its only verification method (`#<multikey>`, `#0`). @throws
 * InvalidKey
 */
export const keyOfDidUrl = (didUrl: string): { did: string; publicJwk: PublicJwk } => {
  const at = didUrl.indexOf('#');
  const did = at < 0 ? didUrl : didUrl.slice(0, at);
  const fragment = at < 0 ? undefined : didUrl.slice(at + 1);
  const isKey = did.startsWith('did:key:');
  const publicJwk = isKey ? decodeDidKey(did) : decodeDidJwk(did);
  if (fragment !== undefined && fragment !== (isKey ? did.slice('did:key:'.length) : '0'))
    throw new InvalidKey('the fragment names no verification method of this DID');
  return { did, publicJwk };
};

// --- Ed25519 points and their X25519 counterparts

/**
 * RFC 8032 §5.1.3, and not of order 1, 2, 4 or 8: for such a point a signature proves nothing. node:crypto accepts any 32
 * bytes. @throws InvalidKey
 */
const assertEd25519Point = (bytes: Uint8Array): void => {
  let isSmall: boolean;
  try {
    isSmall = ed25519.Point.fromBytes(Uint8Array.from(bytes), false).isSmallOrder();
  } catch (cause) {
    throw new InvalidKey('the Ed25519 key is not on its curve', { cause });
  }
  if (isSmall) throw new InvalidKey('the Ed25519 key is of small order');
};

/** The key agreement key of a did:key: u = (1 + y) / (1 - y), RFC 7748 §4.1. @throws InvalidKey */
export const x25519PublicOf = (publicJwk: PublicJwk): PublicJwk => {
  if (publicJwk.crv !== 'Ed25519') throw new InvalidKey('not an Ed25519 key');
  const point = fromBase64url(publicJwk.x, 'x', 32);
  assertEd25519Point(point);
  const u = ed25519.utils.toMontgomery(Uint8Array.from(point));
  return { kty: 'OKP', crv: 'X25519', x: Buffer.from(u).toString('base64url') };
};

/** The X25519 private key (32 bytes, clamped, RFC 7748 §5) that belongs to {@link x25519PublicOf}, from the Ed25519 seed. */
export const x25519PrivateOf = (ed25519Seed: Uint8Array): Uint8Array => {
  if (ed25519Seed.length !== 32) throw new InvalidKey('an Ed25519 seed must have 32 bytes');
  return ed25519.utils.toMontgomerySecret(Uint8Array.from(ed25519Seed));
};
