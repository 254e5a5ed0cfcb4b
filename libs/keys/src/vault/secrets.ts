import { createHash, randomBytes, randomFillSync, randomUUID } from 'node:crypto';

/** The next bytes, each uniform: the system's generator, or a deterministic stream (see service-kit's attempts). */
export type ByteSource = (length: number) => Buffer;

const pool = Buffer.allocUnsafeSlow(8192);
let used = pool.length;

/**
 * Random bytes of the system's generator, read from it in blocks: a call for each iv costs more than the encryption. They have their own
 * memory and are cleared in the pool.
 */
export const pooledBytes: ByteSource = (length) => {
  if (length > pool.length) return randomBytes(length);
  if (used + length > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const taken = pool.subarray(used, used + length);
  used += length;
  const bytes = Buffer.allocUnsafeSlow(length);
  bytes.set(taken);
  taken.fill(0);
  return bytes;
};

/** `bytes` random bytes as base64url; 32 bytes (256 bit) give 43 characters. */
export const randomSecret = (bytes = 32, from: ByteSource = pooledBytes): string => from(bytes).toString('base64url');

/** `length` characters of an alphabet of at most 256, each uniform. */
export const randomPick = (alphabet: string, length: number, from: ByteSource = pooledBytes): string => {
  // The largest multiple in a byte: otherwise the first characters would be likelier.
  const limit = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length)
    for (const byte of from(length - text.length + 8))
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length];
  return text;
};

/** `length` decimal digits, each uniform, leading zeros included (transaction codes). */
export const randomDigits = (length: number, from?: ByteSource): string => randomPick('0123456789', length, from);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` characters of [0-9A-Za-z], each uniform. */
export const base62 = (length: number, from?: ByteSource): string => randomPick(BASE62, length, from);

/** A random UUID (RFC 9562, version 4). */
export const newId = (): string => randomUUID();

/**
 * Id of the key that replaces another one, a UUID (RFC 9562 §5.8): the same for each attempt, so that a key that was created by an
 * interrupted rotation is that of the next attempt.
 */
export const successorId = (keyId: string): string => {
  const hash = createHash('sha256').update(`key after ${keyId}`).digest();
  hash[6] = 0x80 | (hash[6]! & 0x0f);
  hash[8] = 0x80 | (hash[8]! & 0x3f);
  return hash.toString('hex', 0, 16).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
};
