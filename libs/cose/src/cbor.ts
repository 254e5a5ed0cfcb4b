import { decode, encode, rfc8949EncodeOptions, Tagged } from 'cborg';

/** Values that a credential in CBOR is made from. */
export type CborValue =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | Tagged
  | readonly CborValue[]
  | ReadonlyMap<string | number | Uint8Array, CborValue>
  | { readonly [name: string]: CborValue };

/** Deterministic (RFC 8949 §4.2.1): map keys sorted bytewise, the shortest form of lengths and numbers, nothing indefinite. */
export const encodeCbor = (value: CborValue): Uint8Array => encode(value, rfc8949EncodeOptions);

/** RFC 8949 §3.4.5.1: a byte string that holds encoded CBOR. */
export const encodedCborItem = (bytes: Uint8Array): Tagged => new Tagged(24, bytes);

/** The encoding of `encodedCborItem(bytes)`, whose bytes need no encoder. */
export const encodeCborItem = (bytes: Uint8Array): Uint8Array => {
  const { length } = bytes;
  const item = Buffer.allocUnsafe(length + 7);
  let end = item.writeUInt16BE(0xd818);
  if (length < 24) end = item.writeUInt8(0x40 + length, end);
  else if (length < 0x100) end = item.writeUInt16BE(0x5800 + length, end);
  else if (length < 0x10000) end = item.writeUInt16BE(length, item.writeUInt8(0x59, end));
  else end = item.writeUInt32BE(length, item.writeUInt8(0x5a, end));
  item.set(bytes, end);
  return item.subarray(0, end + length);
};

/** `2026-01-31T12:00:00Z` with tag 0: ISO/IEC 18013-5 §7.2.1 has no fraction of a second and no offset. */
export const tdate = (date: Date): Tagged => new Tagged(0, `${date.toISOString().slice(0, 19)}Z`);

/** `2026-01-31` with tag 1004, RFC 8943. */
export const fullDate = (date: string): Tagged => new Tagged(1004, date);

/** RFC 9052 §4.2, for a message outside of other structures. */
export const coseSign1 = (message: CborValue): Tagged => new Tagged(18, message);

/** Decodes output of `encodeCbor`: a COSE message with tag 18, or a map. */
export const decodeCbor = (bytes: Uint8Array): unknown => decode(bytes, { useMaps: true, tags: Tagged.preserve(18) });
