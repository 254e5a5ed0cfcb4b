import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 22;

let pool = Buffer.alloc(0);
let used = 0;

/** 22 characters base62 (131 bits), in `x-request-id` and on every event of the call. */
export const newRequestId = (): string => {
  let id = '';
  while (id.length < LENGTH) {
    if (used >= pool.length) {
      pool = randomBytes(4096);
      used = 0;
    }
    const byte = pool[used++]!;
    // 248 = 4 × 62: larger bytes would favor the first characters.
    if (byte < 248) id += ALPHABET[byte % 62];
  }
  return id;
};
