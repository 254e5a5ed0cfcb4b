import { randomBytes, randomUUID } from 'node:crypto';

/** The next bytes, each uniform: the system's generator, or a stream that can be drawn again (see service-kit's attempts). */
export type ByteSource = (length: number) => Buffer;

/** `bytes` random bytes as base64url; 32 bytes (256 bit) give 43 characters. */
export const randomSecret = (bytes = 32, from: ByteSource = randomBytes): string => from(bytes).toString('base64url');

/** `length` characters of an alphabet of at most 256, each uniform. */
export const randomPick = (alphabet: string, length: number, from: ByteSource = randomBytes): string => {
  // The largest multiple in a byte: without the cut the first characters would be likelier.
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
