import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 22;

let pool = Buffer.alloc(0);
let used = 0;
const nextByte = (): number => {
  if (used >= pool.length) {
    pool = randomBytes(4096);
    used = 0;
  }
  return pool[used++]!;
};

/** 22 characters base62 (131 bits), in `x-request-id` and on every event of the call. */
export const newRequestId = (): string => {
  let id = '';
  while (id.length < LENGTH) {
    const byte = nextByte();
    // 248 = 4 × 62: larger bytes would favor the first characters.
    if (byte < 248) id += ALPHABET[byte % 62];
  }
  return id;
};
