import type { CborValue } from './cbor.js';

/** The members of a public JWK that make a COSE_Key. */
export interface EcPublicJwk {
  kty: string;
  crv?: string;
  x?: string;
  y?: string;
}

/** A key that no CBOR credential can be bound to. */
export class KeyNotSupported extends Error {
  constructor() {
    super('the key must be an EC key on P-256 with the coordinates x and y of 32 bytes');
    this.name = 'KeyNotSupported';
  }
}

/** The COSE_Key of a public P-256 JWK, RFC 9053 §7.1.1. @throws KeyNotSupported */
export const coseKey = ({ kty, crv, x, y }: EcPublicJwk): ReadonlyMap<number, CborValue> => {
  if (kty !== 'EC' || crv !== 'P-256' || !COORDINATE.test(x ?? '') || !COORDINATE.test(y ?? ''))
    throw new KeyNotSupported();
  return new Map<number, CborValue>([
    [1, 2], // kty: EC2
    [-1, 1], // crv: P-256
    [-2, Buffer.from(x!, 'base64url')],
    [-3, Buffer.from(y!, 'base64url')],
  ]);
};

/** 32 bytes as base64url; the last character carries four bits. */
const COORDINATE = /^[\w-]{42}[AEIMQUYcgkosw048]$/;
