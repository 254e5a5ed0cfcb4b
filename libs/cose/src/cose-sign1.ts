import { encodeCbor, type CborValue } from './cbor.js';

/** Header parameters, RFC 9052 §3.1, RFC 9596 and RFC 9360 §2. */
export const HEADER = { alg: 1, kid: 4, typ: 16, x5chain: 33 } as const;
/** RFC 9053 §2.1 */
export const ES256 = -7;

const NO_EXTERNAL_DATA = new Uint8Array(0);

/** The Sig_structure of a COSE_Sign1 without external data, RFC 9052 §4.4. */
export const encodeSigStructure = (protectedHeader: Uint8Array, payload: Uint8Array): Uint8Array =>
  encodeCbor(['Signature1', protectedHeader, NO_EXTERNAL_DATA, payload]);

/** A COSE_Sign1 as an untagged array, RFC 9052 §4.2. @throws RangeError for a signature that is not one of ES256 */
export const assembleSign1 = (
  protectedHeader: Uint8Array,
  unprotectedHeader: ReadonlyMap<number, CborValue>,
  payload: Uint8Array,
  signature: Uint8Array,
): readonly CborValue[] => {
  if (signature.length !== 64) throw new RangeError('an ES256 signature is raw r and s, 64 bytes');
  return [protectedHeader, unprotectedHeader, payload, signature];
};
