import { p256 } from '@noble/curves/nist.js';
import { base58 } from '@scure/base';
import type { JWK } from 'jose';
import { hostFetch } from './host-fetch.js';

export interface VerificationMethod {
  id: string;
  type: string;
  controller: string;
  publicKeyJwk?: JWK;
  publicKeyBase58?: string;
  publicKeyMultibase?: string;
}

export interface DidDocument {
  '@context'?: unknown;
  id: string;
  verificationMethod?: VerificationMethod[];
  assertionMethod?: (string | VerificationMethod)[];
  [member: string]: unknown;
}

/** Multicodec prefixes of the did:key method. */
const ED25519 = [0xed, 0x01];
const P256 = [0x80, 0x24];

const startsWith = (bytes: Uint8Array, prefix: readonly number[]): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);
const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

/** Multibase base58btc with a multicodec prefix, as in did:key and `publicKeyMultibase`. */
const jwkOfMultibase = (multibase: string): JWK => {
  const bytes = base58.decode(multibase.replace(/^z/, ''));
  if (startsWith(bytes, ED25519)) return { kty: 'OKP', crv: 'Ed25519', x: base64url(bytes.subarray(2)) };
  if (!startsWith(bytes, P256)) throw new Error(`${multibase}: neither an Ed25519 nor a P-256 key`);
  const point = p256.Point.fromBytes(bytes.subarray(2)).toBytes(false);
  return { kty: 'EC', crv: 'P-256', x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)) };
};

/** The did:key of a public key. https://w3c-ccg.github.io/did-key-spec/ */
export const didKeyOf = (jwk: JWK): string => {
  const x = Buffer.from(jwk.x!, 'base64url');
  if (jwk.crv === 'Ed25519') return `did:key:z${base58.encode(Uint8Array.from([...ED25519, ...x]))}`;
  const isOdd = Buffer.from(jwk.y!, 'base64url')[31]! & 1;
  return `did:key:z${base58.encode(Uint8Array.from([...P256, isOdd ? 3 : 2, ...x]))}`;
};

export const didJwkOf = (jwk: JWK): string => `did:jwk:${Buffer.from(JSON.stringify(jwk)).toString('base64url')}`;

const didKeyDocument = (did: string): DidDocument => {
  const multibase = did.slice('did:key:'.length);
  const id = `${did}#${multibase}`;
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    verificationMethod: [{ id, type: 'Multikey', controller: did, publicKeyMultibase: multibase }],
    assertionMethod: [id],
  };
};

/** The URL of a did:web document; http on localhost, where there are no certificates. */
export const didWebUrl = (did: string): string => {
  const [host, ...path] = did.slice('did:web:'.length).split(':').map(decodeURIComponent) as [string, ...string[]];
  const scheme = /(?:^|\.)localhost(?::\d+)?$/.test(host) ? 'http' : 'https';
  return `${scheme}://${host}/${path.length ? path.join('/') : '.well-known'}/did.json`;
};

/** Resolves did:key by itself and did:web over HTTP, as any verifier would. */
export const resolveDid = async (did: string): Promise<DidDocument> => {
  if (did.startsWith('did:key:')) return didKeyDocument(did);
  if (!did.startsWith('did:web:')) throw new Error(`${did}: no such method here`);
  const response = await hostFetch(didWebUrl(did));
  if (!response.ok) throw new Error(`${didWebUrl(did)} answered ${response.status}`);
  const document = (await response.json()) as DidDocument;
  if (document.id !== did) throw new Error(`${didWebUrl(did)} is the document of ${document.id}`);
  return document;
};

export const verificationMethodOf = async (didUrl: string): Promise<VerificationMethod> => {
  const document = await resolveDid(didUrl.split('#', 1)[0]!);
  const absolute = (id: string) => (id.startsWith('#') ? document.id + id : id);
  const found = document.verificationMethod?.find(({ id }) => absolute(id) === didUrl);
  if (!found) throw new Error(`${document.id} has no verification method ${didUrl}`);
  const asserts = document.assertionMethod?.some((one) => absolute(typeof one === 'string' ? one : one.id) === didUrl);
  if (!asserts) throw new Error(`${didUrl} is not an assertion method`);
  return found;
};

export const jwkOf = ({ publicKeyJwk, publicKeyMultibase, publicKeyBase58, id }: VerificationMethod): JWK => {
  if (publicKeyJwk) return publicKeyJwk;
  if (publicKeyMultibase) return jwkOfMultibase(publicKeyMultibase);
  if (publicKeyBase58) return { kty: 'OKP', crv: 'Ed25519', x: base64url(base58.decode(publicKeyBase58)) };
  throw new Error(`${id} has no public key`);
};
