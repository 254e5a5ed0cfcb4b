import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { KeyStore, WrappedKey } from './key-store.js';
import { Macs, type SecretMac } from './macs.js';
import type { MasterKeys } from './master-keys.js';

/** Macs with peppers that are stored wrapped by MASTER_KEY. */
export class StoredMacs extends Macs {
  private readonly peppers = new Map<string, KeyObject>();
  private currentPepper = '';

  constructor(
    private readonly store: KeyStore,
    private readonly masterKeys: MasterKeys,
  ) {
    super();
  }

  /** @param peppers all of them, the current one last */
  usePeppers(peppers: readonly WrappedKey[]): void {
    for (const pepper of peppers) {
      this.peppers.set(pepper.id, createSecretKey(this.masterKeys.unwrap('pepper', pepper)));
      this.currentPepper = pepper.id;
    }
  }

  mac(secret: string, context?: string): SecretMac {
    const pepper = this.currentPepper;
    return { pepper, mac: hmac(this.peppers.get(pepper)!, secret, context) };
  }

  verifyMac(secret: string, expected: SecretMac, context?: string): boolean {
    const pepper = this.peppers.get(expected.pepper);
    if (!pepper) return false;
    // As texts: base64url has more than one spelling of a MAC, and some MACs come from callers.
    const actual = Buffer.from(hmac(pepper, secret, context));
    const given = Buffer.from(expected.mac);
    return given.length === actual.length && timingSafeEqual(given, actual);
  }

  /** A new pepper for MACs from now on; older ones still verify. Other processes see it when they open the store. */
  async rotatePepper(): Promise<string> {
    const id = `p${this.peppers.size + 1}`;
    this.usePeppers(await this.store.call('putPepper', this.masterKeys.wrap('pepper', id, randomBytes(32))));
    return this.currentPepper;
  }

  clear(): void {
    this.peppers.clear();
  }
}

/** The context's length comes first and its absence has a mark of its own: no two pairs give the same bytes. */
const hmac = (pepper: KeyObject, secret: string, context: string | undefined): string =>
  createHmac('sha256', pepper)
    .update(context === undefined ? `-:${secret}` : `${context.length}:${context}${secret}`)
    .digest('base64url');
