import { encode, rfc8949EncodeOptions, Tagged } from 'cborg';

/** What a credential of CBOR is made from. */
export type CborValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | Tagged
  | readonly CborValue[]
  | ReadonlyMap<string | number, CborValue>
  | { readonly [name: string]: CborValue };

/** Deterministic (RFC 8949 §4.2.1): map keys sorted bytewise, the shortest form of lengths and numbers, nothing indefinite. */
export const encodeCbor = (value: CborValue): Uint8Array => encode(value, rfc8949EncodeOptions);

/** RFC 8949 §3.4.5.1: a byte string that holds encoded CBOR. */
export const encodedCborItem = (bytes: Uint8Array): Tagged => new Tagged(24, bytes);

/** `2026-01-31T12:00:00Z` with tag 0: ISO/IEC 18013-5 §7.2.1 has no fraction of a second and no offset. */
export const tdate = (date: Date): Tagged => new Tagged(0, `${date.toISOString().slice(0, 19)}Z`);

/** `2026-01-31` with tag 1004, RFC 8943. */
export const fullDate = (date: string): Tagged => new Tagged(1004, date);

/** RFC 9052 §4.2, for a message outside of other structures. */
export const coseSign1 = (message: CborValue): Tagged => new Tagged(18, message);
