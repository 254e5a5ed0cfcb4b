import { createCipheriv } from 'node:crypto';

/** Number of rounds of FF1 (NIST SP 800-38G). */
const ROUNDS = 10;
const AES_BLOCK = 16;

/**
 * Indexes of consecutive counters: `permuteCounters(secret, size, first, count)[i]` is π(first + i), where π is a permutation of [0, size)
 * that only the secret determines. No two counters of a list have the same index, and an index shows neither its counter nor its neighbors.
 *
 * π is the generalized Feistel network of Black and Rogaway (Ciphers with Arbitrary Finite Domains, CT-RSA 2002) on Z_a × Z_b with
 * a = ⌈√size⌉ and b = ⌈size / a⌉. Its round function is AES-256 under the list's secret, on round and half, reduced from 48 bits (bias below
 * a / 2^48). A result beyond the list is permuted again until it is within (cycle walking). As a·b < size + a, about one counter in √size needs
 * that at most.
 *
 * Bound: as a random permutation, up to the distinguishing advantage of the network. Proofs for Feistel networks cover about √size known
 * pairs of counter and index; beyond that, ten rounds are the practice of FF1. Attacks on small domains use many tweaks under one key: here
 * each list has a secret of its own and no tweak, and counters are never published.
 * @param secret 32 bytes
 * @throws RangeError for counters beyond the size
 */
export const permuteCounters = (secret: Uint8Array, size: number, first: number, count: number): Uint32Array => {
  if (![size, first, count].every(Number.isInteger) || first < 0 || count < 0 || first + count > size || size > 2 ** 32)
    throw new RangeError(`counters ${first} to ${first + count - 1} are beyond a list of ${size}`);
  const encipher = feistel(secret, size);
  const indexes = Uint32Array.from({ length: count }, (_, i) => first + i);
  encipher(indexes);
  for (;;) {
    const outside = [...indexes.keys()].filter((i) => indexes[i]! >= size);
    if (outside.length === 0) return indexes;
    const walked = Uint32Array.from(outside, (i) => indexes[i]!);
    encipher(walked);
    for (const [n, i] of outside.entries()) indexes[i] = walked[n]!;
  }
};

/** In place, on [0, a·b). All values pass through each round together, because one call of AES for each would cost more than AES. */
const feistel = (secret: Uint8Array, size: number): ((values: Uint32Array) => void) => {
  const a = Math.ceil(Math.sqrt(size));
  const b = Math.ceil(size / a);
  const cipher = createCipheriv('aes-256-ecb', secret, null).setAutoPadding(false);
  return (values) => {
    let left = Float64Array.from(values, (value) => value % a);
    let right = Float64Array.from(values, (value) => Math.floor(value / a));
    const blocks = Buffer.alloc(values.length * AES_BLOCK);
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, half] of right.entries()) {
        blocks.writeUInt32BE(round, i * AES_BLOCK);
        blocks.writeUInt32BE(half, i * AES_BLOCK + 4);
      }
      const random = cipher.update(blocks);
      const modulus = round % 2 === 0 ? a : b;
      const mixed = left.map((half, i) => (half + random.readUIntBE(i * AES_BLOCK, 6)) % modulus);
      left = right;
      right = mixed;
    }
    for (const [i, half] of right.entries()) values[i] = half * a + left[i]!;
  };
};
