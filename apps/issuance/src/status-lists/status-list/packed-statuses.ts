/** Status types, Token Status List §7.1. */
export const VALID = 0;
export const INVALID = 1;
export const SUSPENDED = 2;

/** Bits of one status. */
export type StatusBits = 1 | 2 | 4 | 8;

/** Entries of a list: the least that a verifier of Bitstring Status List accepts (§3.2). */
export const LIST_SIZE = 131_072;
/** Entries of a list of mdocs. */
export const MDOC_LIST_SIZE = 100_000;

/**
 * All statuses of a list, VALID, in the layout in which they are stored and changed, that of Token Status List §4.1: index 0 in the least
 * significant bits of the first byte. Bitstring Status List and RevocationList2020 have the opposite order, which is made when a list is
 * published.
 */
export const packedStatuses = (size: number, bits: StatusBits): Uint8Array =>
  new Uint8Array(Math.ceil((size * bits) / 8));

/** @throws RangeError beyond the end of the list */
export const statusAt = (packed: Uint8Array, bits: StatusBits, index: number): number => {
  const { byte, shift, mask } = locate(packed, bits, index);
  return (packed[byte]! >> shift) & mask;
};

/**
 * Changes one status in place.
 * @returns whether it was another one
 * @throws RangeError beyond the end of the list, or for a status that needs more bits
 */
export const setStatus = (packed: Uint8Array, bits: StatusBits, index: number, status: number): boolean => {
  const { byte, shift, mask } = locate(packed, bits, index);
  if (!Number.isInteger(status) || status < 0 || status > mask)
    throw new RangeError(`status ${status} does not fit into ${bits} bits`);
  const before = packed[byte]!;
  packed[byte] = (before & ~(mask << shift)) | (status << shift);
  return packed[byte] !== before;
};

const locate = (packed: Uint8Array, bits: StatusBits, index: number) => {
  const bit = index * bits;
  if (!Number.isInteger(index) || index < 0 || bit >= packed.length * 8)
    throw new RangeError(`index ${index} is beyond the status list`);
  return { byte: Math.floor(bit / 8), shift: bit % 8, mask: (1 << bits) - 1 };
};

/**
 * All statuses of a list, INVALID: what is published while its credentials are withdrawn without a change of their status, because the
 * tenant has lost the domain of their issuer.
 */
export const invalidStatuses = (size: number, bits: StatusBits): Uint8Array =>
  packedStatuses(size, bits).fill((0xff / (2 ** bits - 1)) * INVALID);
