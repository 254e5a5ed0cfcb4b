import { createCipheriv, createDecipheriv } from 'node:crypto';
import { SealBroken } from '../vault/key-vault.js';
import { pooledBytes } from '../vault/secrets.js';

/** Bytes around the plaintext: 12 of iv before, 16 of tag after. */
const IV = 12;
const TAG = 16;

/** Associated data: every part preceded by its length, so that different lists of parts never have the same bytes. */
export const bind = (...parts: readonly string[]): Buffer => {
  let text = '';
  for (const part of parts) text += `${part.length}:${part}`;
  return Buffer.from(text);
};

/** AES-256-GCM: iv, ciphertext, tag. The result has its own memory, so that it can be posted to a thread. */
export const sealBytes = (key: Uint8Array, plaintext: Uint8Array, associated: Uint8Array): Buffer => {
  const out = Buffer.allocUnsafeSlow(IV + plaintext.length + TAG);
  const iv = pooledBytes(IV);
  out.set(iv);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  cipher.setAAD(associated);
  out.set(cipher.update(plaintext), IV);
  cipher.final();
  out.set(cipher.getAuthTag(), IV + plaintext.length);
  return out;
};

/** @throws SealBroken, naming `what`; the cause is omitted because it adds nothing. */
export const openBytes = (key: Uint8Array, sealed: Uint8Array, associated: Uint8Array, what: string): Buffer => {
  if (sealed.length < IV + TAG) throw new SealBroken(what);
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV), { authTagLength: TAG });
  decipher.setAAD(associated);
  decipher.setAuthTag(sealed.subarray(sealed.length - TAG));
  const plaintext = decipher.update(sealed.subarray(IV, sealed.length - TAG));
  try {
    decipher.final();
  } catch {
    throw new SealBroken(what);
  }
  return plaintext;
};
