import { randomBytes, randomInt, randomUUID } from 'node:crypto';

/** `bytes` random bytes as base64url; 32 bytes (256 bit) give 43 characters. */
export const randomSecret = (bytes = 32): string => randomBytes(bytes).toString('base64url');

/** `length` decimal digits, each uniform, leading zeros included (transaction codes). */
export const randomDigits = (length: number): string => Array.from({ length }, () => randomInt(10).toString()).join('');

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** `length` characters of [0-9A-Za-z], each uniform. */
export const base62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length + 8)) {
      // 248 is the largest multiple of 62 in a byte: without the cut the first characters would be likelier.
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
};

/** A random UUID (RFC 9562, version 4). */
export const newId = (): string => randomUUID();
