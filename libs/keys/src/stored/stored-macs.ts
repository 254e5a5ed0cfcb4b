import { hash, timingSafeEqual } from 'node:crypto';
import type { WrappedKey } from './key-store.js';
import { Macs, type SecretMac } from '../vault/macs.js';
import type { MasterKeys } from './master-keys.js';

/** Bytes of SHA-256: its block and its result. */
const BLOCK = 64;
const DIGEST = 32;
/** Bytes of text that need no separate memory; longer texts are rare. */
const ROOM = 1024;

/** Macs with peppers that are stored wrapped by MASTER_KEY. */
export class StoredMacs extends Macs {
  private readonly peppers = new Map<string, HmacKey>();
  private currentPepper = '';

  constructor(private readonly masterKeys: MasterKeys) {
    super();
  }

  /** @param peppers all of them, the current one last */
  usePeppers(peppers: readonly WrappedKey[]): void {
    for (const pepper of peppers) {
      this.peppers.set(pepper.id, hmacKey(this.masterKeys.unwrap('pepper', pepper)));
      this.currentPepper = pepper.id;
    }
  }

  mac(secret: string, context?: string): SecretMac {
    const pepper = this.currentPepper;
    return { pepper, mac: hmac(this.peppers.get(pepper)!, boundText(secret, context)) };
  }

  verifyMac(secret: string, expected: SecretMac, context?: string): boolean {
    const pepper = this.peppers.get(expected.pepper);
    if (!pepper) return false;
    // Strings are compared: base64url has more than one spelling of a MAC, and some MACs come from callers.
    const actual = Buffer.from(hmac(pepper, boundText(secret, context)));
    const given = Buffer.from(expected.mac);
    return given.length === actual.length && timingSafeEqual(given, actual);
  }

  clear(): void {
    this.peppers.clear();
  }
}

/** RFC 2104: the key combined with ipad, with room for a text; and with opad, with room for the inner digest. */
interface HmacKey {
  inner: Buffer;
  outer: Buffer;
}

/** RFC 2104 §2: a key longer than a block is hashed. */
export const hmacKey = (key: Uint8Array): HmacKey => {
  const inner = Buffer.alloc(BLOCK + ROOM, 0x36);
  const outer = Buffer.alloc(BLOCK + DIGEST, 0x5c);
  const block = key.length > BLOCK ? hash('sha256', key, 'buffer') : key;
  block.forEach((byte, at) => {
    inner[at]! ^= byte;
    outer[at]! ^= byte;
  });
  return { inner, outer };
};

/** The context's length comes first and its absence has a distinct mark, so that different pairs never have the same text. */
const boundText = (secret: string, context: string | undefined): string =>
  context === undefined ? `-:${secret}` : `${context.length}:${context}${secret}`;

/**
 * HMAC-SHA256 of a text in UTF-8, base64url. As two one-shot hashes, the inner one as a string: this takes half the time of an Hmac object,
 * or of an inner digest in a Buffer.
 */
export const hmac = ({ inner, outer }: HmacKey, text: string): string => {
  const length = Buffer.byteLength(text);
  // Texts are written behind the key, so that it is not copied into memory that Node shares among buffers.
  const fits = length <= ROOM;
  const message = fits ? inner.subarray(0, BLOCK + length) : Buffer.allocUnsafeSlow(BLOCK + length);
  if (!fits) message.set(inner.subarray(0, BLOCK));
  message.write(text, BLOCK);
  outer.write(hash('sha256', message, 'latin1'), BLOCK, 'latin1');
  return hash('sha256', outer, 'base64url');
};
