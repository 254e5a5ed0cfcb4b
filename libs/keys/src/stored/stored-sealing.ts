import { createHash } from 'node:crypto';
import { cacheName, KeyCache } from './key-cache.js';
import type { DataKeyRow, KeyStore } from './key-store.js';
import { KeyAlreadyExists, KeyNotFound, SealBroken } from '../vault/key-vault.js';
import { bind, openBytes, sealBytes } from './seal.js';
import {
  ERASED,
  Sealing,
  type NewKey,
  type DataPurpose,
  type Erased,
  type Sealed,
  type StoredValue,
} from '../vault/sealing.js';
import { pooledBytes } from '../vault/secrets.js';
import type { TenantKeys } from './tenant-keys.js';

/** A key that is not durable yet. Only a key that must be new may already be used: for any other the id may already have one. */
type PendingKey = { key: Buffer; mustBeNew: boolean; durable: Promise<boolean> };

/** A value that is stored with its key; `sha256` of `bytes`. */
type Value = { bytes: Uint8Array; sha256: string };

/** Most values are small and read within seconds of being stored: these need no read. */
const CACHED_VALUES_BYTES = 8 * 1024 * 1024;
const CACHED_VALUE_BYTES = 16 * 1024;

const KEY_ID = /^[\x21-\x7e]{1,200}$/;
const PURPOSES: readonly DataPurpose[] = ['user', 'session', 'delivery', 'tenant'];

/** Sealing over a store of sealed data keys. Encryption happens here, the store never receives a key in plain text. */
export class StoredSealing extends Sealing {
  private readonly keys: KeyCache<Buffer>;
  private readonly values: KeyCache<Value>;
  private readonly pending = new Map<string, PendingKey>();

  /** @param destroyKeys also evicts them here */
  constructor(
    private readonly store: KeyStore,
    private readonly tenantKeys: TenantKeys,
    private readonly destroyKeys: (tenantId: string, keyIds: readonly string[]) => Promise<void>,
    ttl: number,
  ) {
    super();
    this.keys = new KeyCache({ max: 5_000, ttl });
    this.values = new KeyCache({
      maxSize: CACHED_VALUES_BYTES,
      maxEntrySize: CACHED_VALUE_BYTES,
      sizeCalculation: ({ bytes }) => bytes.length,
      ttl,
    });
  }

  async createDataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<void> {
    const at = cacheName(tenantId, keyId, purpose);
    if (this.keys.has(at)) return;
    checkKeyId(keyId);
    await (this.pending.get(at)?.durable ?? this.createKey(tenantId, purpose, keyId));
  }

  async sealText(tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Promise<Sealed> {
    const at = cacheName(tenantId, keyId, purpose);
    const pending = this.pending.get(at);
    if (pending?.mustBeNew) return encryptText(pending.key, tenantId, purpose, keyId, plaintext);
    if (pending) await pending.durable;
    const key = this.keys.get(at) ?? (await this.loadDataKey(at, tenantId, purpose, keyId));
    if (!Buffer.isBuffer(key)) throw new KeyNotFound(keyId);
    return encryptText(key, tenantId, purpose, keyId, plaintext);
  }

  sealWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { sealed: Sealed; newKey: NewKey } {
    checkKeyId(keyId);
    const key = pooledBytes(32);
    return {
      sealed: encryptText(key, tenantId, purpose, keyId, plaintext),
      newKey: this.newKey(key, tenantId, purpose, keyId),
    };
  }

  storeWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { stored: StoredValue; newKey: NewKey } {
    checkKeyId(keyId);
    const key = pooledBytes(32);
    const value = valueOf(sealBytes(key, Buffer.from(plaintext), bind('value', tenantId, purpose, keyId)));
    return { stored: nameOf(keyId, value), newKey: this.newKey(key, tenantId, purpose, keyId, value) };
  }

  async storeText(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): Promise<{ stored: StoredValue; newKey?: NewKey }> {
    const { stored, newKey } = this.storeWithNewKey(tenantId, purpose, keyId, plaintext);
    try {
      await newKey.store();
      return { stored, newKey };
    } catch (error) {
      if (!(error instanceof KeyAlreadyExists)) throw error;
    }
    const at = { tenant: tenantId, purpose, id: keyId };
    let found = await this.store.call('storedValue', at);
    if (found.state === 'absent') {
      // A key that was created without a value.
      const key = await this.loadDataKey(cacheName(tenantId, keyId, purpose), tenantId, purpose, keyId);
      if (!Buffer.isBuffer(key)) throw new KeyNotFound(keyId);
      const sealed = sealBytes(key, Buffer.from(plaintext), bind('value', tenantId, purpose, keyId));
      const row = { tenantId, purpose, id: keyId, live: true, sealed };
      await this.store.call('keepKeys', { table: 'sealed_values', add: [row], destroy: [] });
      found = await this.store.call('storedValue', at);
    }
    if (found.state !== 'live') throw new KeyNotFound(keyId);
    return { stored: nameOf(keyId, valueOf(found.row.value)) };
  }

  async openStored(
    tenantId: string,
    purpose: DataPurpose,
    { keyId, length, sha256 }: StoredValue,
  ): Promise<string | Erased> {
    const at = cacheName(tenantId, keyId, purpose);
    await this.pending.get(at)?.durable;
    const key = this.keys.get(at) ?? (await this.loadDataKey(at, tenantId, purpose, keyId));
    if (!Buffer.isBuffer(key)) return key;
    const value = this.values.get(at) ?? (await this.loadValue(at, tenantId, purpose, keyId));
    if ('erased' in value) return value;
    const what = `the value stored with key ${keyId}`;
    if (value.bytes.length !== length || value.sha256 !== sha256) throw new SealBroken(what);
    return openBytes(key, value.bytes, bind('value', tenantId, purpose, keyId), what).toString();
  }

  async openSealed(tenantId: string, purpose: DataPurpose, sealed: Sealed): Promise<string | Erased> {
    const { keyId, content } = parseSealed(sealed);
    const at = cacheName(tenantId, keyId, purpose);
    const pending = this.pending.get(at);
    if (pending && !pending.mustBeNew) await pending.durable;
    const usable = pending?.mustBeNew ? pending.key : this.keys.get(at);
    const key = usable ?? (await this.loadDataKey(at, tenantId, purpose, keyId));
    if (!Buffer.isBuffer(key)) return key;
    const what = `a value under key ${keyId}`;
    return openBytes(key, content, bind('value', tenantId, purpose, keyId), what).toString();
  }

  destroyDataKeys(tenantId: string, keyIds: readonly string[]): Promise<void> {
    return this.destroyKeys(tenantId, keyIds);
  }

  /** Without `keyIds`, all of the tenant's. */
  evict(tenantId: string, keyIds?: readonly string[]): void {
    if (!keyIds) {
      const prefix = cacheName(tenantId, '');
      this.keys.evictPrefix(prefix);
      this.values.evictPrefix(prefix);
      for (const at of [...this.pending.keys()]) if (at.startsWith(prefix)) this.pending.delete(at);
    } else
      for (const keyId of keyIds)
        for (const purpose of PURPOSES) {
          const at = cacheName(tenantId, keyId, purpose);
          this.keys.evict(at);
          this.values.evict(at);
          this.pending.delete(at);
        }
  }

  clear(): void {
    this.keys.clear();
    this.values.clear();
  }

  /** The key becomes durable with `value`, which was sealed under it. */
  private newKey(key: Buffer, tenantId: string, purpose: DataPurpose, keyId: string, value?: Value): NewKey {
    let stored: Promise<boolean> | undefined;
    return {
      kind: 'key',
      ...(value && { bytes: value.bytes.length }),
      get isStored() {
        return stored !== undefined;
      },
      store: async () => void (await (stored ??= this.storeNewKey(key, tenantId, purpose, keyId, value))),
      partOf: async (engine) => {
        if (engine !== this.store.engine || stored) return undefined;
        const { promise, resolve, reject } = Promise.withResolvers<boolean>();
        this.keepDataKey(key, tenantId, purpose, keyId, true, promise, value);
        const refused = (error: Error & { code?: unknown }): Error | undefined => {
          reject(error);
          if (error.code === 'KeyDestroyed') return new KeyNotFound(keyId);
          return error.code === 'KeyExists' ? new KeyAlreadyExists(keyId) : undefined;
        };
        try {
          const args = await this.sealedRow(key, tenantId, purpose, keyId, value);
          const isStored = () => {
            stored = promise;
            resolve(true);
          };
          return { job: this.store.newKeyJob, args, stored: isStored, refused };
        } catch (error) {
          refused(error as Error);
          throw error;
        }
      },
    };
  }

  private createKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<boolean> {
    const key = pooledBytes(32);
    const durable = this.storeDataKey(key, tenantId, purpose, keyId, false);
    return this.keepDataKey(key, tenantId, purpose, keyId, false, durable).durable;
  }

  private storeNewKey(
    key: Buffer,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    value: Value | undefined,
  ): Promise<boolean> {
    const durable = this.storeDataKey(key, tenantId, purpose, keyId, true, value);
    return this.keepDataKey(key, tenantId, purpose, keyId, true, durable, value).durable;
  }

  private keepDataKey(
    key: Buffer,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    mustBeNew: boolean,
    durable: Promise<boolean>,
    value?: Value,
  ): PendingKey {
    const at = cacheName(tenantId, keyId, purpose);
    const made: PendingKey = { key, mustBeNew, durable };
    // `sealText` continues to use the key of an earlier caller; this one will be refused.
    if (!this.pending.has(at) && !this.keys.has(at)) this.pending.set(at, made);
    const taken = () => this.pending.get(at) === made && this.pending.delete(at);
    // Registered first, so it runs before the caller receives the outcome. An eviction meanwhile has removed the entry:
    // then the key is not cached. A caller that is still appending receives a rejection when it awaits `durable`.
    durable.then(
      (created) => {
        if (!taken() || !created) return;
        this.keys.set(at, key);
        if (value) this.values.set(at, value);
      },
      () => taken(),
    );
    return made;
  }

  private async sealedRow(
    key: Buffer,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    value: Value | undefined,
  ): Promise<DataKeyRow> {
    const tenantKey = this.tenantKeys.get(tenantId) ?? (await this.tenantKeys.loadTenantKey(tenantId, keyId));
    const sealed = sealBytes(tenantKey, key, bind('data-key', tenantId, purpose, keyId));
    return { tenant: tenantId, purpose, id: keyId, sealed, ...(value && { value: value.bytes }) };
  }

  /** True when this key is the one stored, false when the id had one already. */
  private async storeDataKey(
    key: Buffer,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    mustBeNew: boolean,
    value?: Value,
  ): Promise<boolean> {
    const found = await this.store.call('putDataKey', await this.sealedRow(key, tenantId, purpose, keyId, value));
    if (found.state !== 'live') throw new KeyNotFound(keyId);
    if (mustBeNew && !found.created) throw new KeyAlreadyExists(keyId);
    return found.created === true;
  }

  /** ERASED when it was destroyed. @throws KeyNotFound for a key that never existed */
  private async loadDataKey(
    at: string,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
  ): Promise<Buffer | Erased> {
    try {
      return await this.keys.loadOnce(at, async () => {
        const found = await this.store.call('dataKey', { tenant: tenantId, purpose, id: keyId });
        if (found.state === 'destroyed') throw new Destroyed();
        if (found.state === 'absent') throw new KeyNotFound(keyId);
        const tenantKey = await this.tenantKeys.loadTenantKey(tenantId, keyId);
        return openBytes(tenantKey, found.row.sealed, bind('data-key', tenantId, purpose, keyId), `key ${keyId}`);
      });
    } catch (error) {
      if (error instanceof Destroyed) return ERASED;
      throw error;
    }
  }

  /** ERASED when its key was destroyed meanwhile. @throws SealBroken where the key has no value */
  private async loadValue(at: string, tenantId: string, purpose: DataPurpose, keyId: string): Promise<Value | Erased> {
    try {
      return await this.values.loadOnce(at, async () => {
        const found = await this.store.call('storedValue', { tenant: tenantId, purpose, id: keyId });
        if (found.state === 'destroyed') throw new Destroyed();
        if (found.state === 'absent') throw new SealBroken(`the value stored with key ${keyId}`);
        return valueOf(found.row.value);
      });
    } catch (error) {
      if (error instanceof Destroyed) return ERASED;
      throw error;
    }
  }
}

/** Inside the caches' loaders only: a destroyed key is a result, but is not cached. */
class Destroyed extends Error {}

const valueOf = (bytes: Uint8Array): Value => ({
  bytes,
  sha256: createHash('sha256').update(bytes).digest('base64url'),
});

const nameOf = (keyId: string, { bytes, sha256 }: Value): StoredValue => ({ keyId, length: bytes.length, sha256 });

const checkKeyId = (keyId: string): void => {
  if (!KEY_ID.test(keyId)) throw new TypeError('a key id is 1 to 200 visible ASCII characters');
};

const encryptText = (key: Buffer, tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Sealed => {
  const content = sealBytes(key, Buffer.from(plaintext), bind('value', tenantId, purpose, keyId));
  return `v1.${keyId}.${content.toString('base64url', 0, 12)}.${content.toString('base64url', 12)}`;
};

/** Key ids are chosen by callers and may contain dots; iv and ciphertext cannot. @throws SealBroken */
const parseSealed = (sealed: Sealed): { keyId: string; content: Buffer } => {
  const parts = /^v1\.(.+)\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/s.exec(sealed);
  if (!parts) throw new SealBroken('a value');
  return { keyId: parts[1]!, content: Buffer.from(parts[2]! + parts[3]!, 'base64url') };
};
