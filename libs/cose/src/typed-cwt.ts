import { coseSign1, decodeCbor, encodeCbor, type CborValue } from './cbor.js';
import { assembleSign1, encodeSigStructure, ES256, HEADER } from './cose-sign1.js';
import type { SigningInput } from './signing-input.js';

export interface TypedCwt {
  /** Media type, RFC 9596. */
  type: string;
  claims: ReadonlyMap<number, CborValue>;
  /** How the header names the key. */
  key: { kid: Uint8Array } | { x5chain: readonly Uint8Array[] };
}

const NO_HEADER: ReadonlyMap<number, CborValue> = new Map();

/**
 * A CWT with the header `typ` as a COSE_Sign1 of ES256 with tag 18 and without the CWT tag. Certificates are in the protected header (ISO/IEC
 * 18013-5, second edition, §12.3.6.3).
 */
export const prepareTypedCwt = ({ type, claims, key }: TypedCwt): SigningInput<Uint8Array> => {
  const header = new Map<number, CborValue>([
    [HEADER.alg, ES256],
    [HEADER.typ, type],
  ]);
  if ('kid' in key) header.set(HEADER.kid, key.kid);
  // RFC 9360 §2: one certificate has no array.
  else header.set(HEADER.x5chain, key.x5chain.length === 1 ? key.x5chain[0]! : key.x5chain);
  const encodedHeader = encodeCbor(header);
  const payload = encodeCbor(claims);
  return {
    toBeSigned: encodeSigStructure(encodedHeader, payload),
    assemble: (signature) => encodeCbor(coseSign1(assembleSign1(encodedHeader, NO_HEADER, payload, signature))),
  };
};

/** Claims of a token of {@link prepareTypedCwt}, whose signature is not verified. */
export const claimsOfTypedCwt = (token: Uint8Array): ReadonlyMap<number, unknown> => {
  const { value } = decodeCbor(token) as { value: [Uint8Array, unknown, Uint8Array, Uint8Array] };
  return decodeCbor(value[2]) as ReadonlyMap<number, unknown>;
};
