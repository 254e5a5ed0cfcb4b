import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  timingSafeEqual,
  type webcrypto,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { LRUCache } from 'lru-cache';
import {
  ERASED,
  KeyAlreadyExists,
  KeyNotFound,
  KeyVault,
  SealBroken,
  type DataPurpose,
  type Erased,
  type KeyAlgorithm,
  type KeysDestroyed,
  type PublicJwk,
  type Sealed,
  type SecretMac,
  type Signer,
  type SigningKey,
  type SigningPurpose,
} from './key-vault.js';
import { StoredExpiringState } from './stored-expiring-state.js';
import { StoredKeyCheckpoints } from './key-checkpoints.js';
import { generateBls12381G2 } from './bls12381.js';
import { newId } from './secrets.js';
import { bind, openBytes, sealBytes } from './seal.js';
import type { DataKeyRow, KeyStore, SigningKeyRow, WrappedKey } from './key-store.js';
import { MasterKeys, type MasterKeysGiven } from './master-keys.js';
import { rewrapKeys } from './rewrap-keys.js';

export interface StoredKeyVaultOptions {
  masterKeys: MasterKeysGiven;
  /** Stamps `createdAt`. */
  clock?: () => Date;
  /**
   * How long a cached key is believed, milliseconds, where others may destroy it: they tell, but a message may be lost
   * with its sender. Default: for ever.
   */
  believeMs?: number;
}

type DataKey = { state: 'live'; key: Buffer } | { state: 'destroyed' } | { state: 'absent' };
/** A key on its way to the disk. Only a key that must be new may already be used: another might turn out to be taken. */
type PendingKey = { key: Buffer; mustBeNew: boolean; durable: Promise<boolean> };

const KEY_ID = /^[\x21-\x7e]{1,200}$/;
const slot = (...parts: readonly string[]): string => parts.join('\0');
const dataSlot = (tenantId: string, keyId: string, purpose: DataPurpose): string => slot(tenantId, keyId, purpose);
const DATA_PURPOSES: readonly DataPurpose[] = ['user', 'session', 'delivery', 'tenant'];
const SIGNING_PURPOSES: readonly SigningPurpose[] = ['did', 'webhook', 'token'];
const ALGORITHMS: readonly KeyAlgorithm[] = ['P-256', 'Ed25519', 'X25519', 'Bls12381G2'];
const newestSlot = (tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): string =>
  slot(tenantId, 'newest', purpose, algorithm);

const signAside = promisify(sign);

/** KeyVault over a store of sealed keys. Encryption happens here; the store never sees a key. */
export class StoredKeyVault extends KeyVault {
  readonly expiringState: StoredExpiringState;
  readonly checkpoints: StoredKeyCheckpoints;
  private readonly tenantKeys: LRUCache<string, Buffer>;
  private readonly dataKeys: LRUCache<string, Buffer>;
  private readonly signers: LRUCache<string, Signer>;
  private readonly newest: LRUCache<string, SigningKey>;
  /** Reads under way, shared by their callers; an eviction takes them out, so that they no longer reach a cache. */
  private readonly loading = new Map<string, Promise<unknown>>();
  private readonly pending = new Map<string, PendingKey>();
  private readonly listeners = new Set<(destroyed: KeysDestroyed) => void>();
  private readonly peppers = new Map<string, KeyObject>();
  private currentPepper = '';
  private scrubbing: Promise<void> = Promise.resolve();
  private nextScrub: Promise<void> | undefined;

  private constructor(
    private readonly store: KeyStore,
    private readonly masterKeys: MasterKeys,
    private readonly clock: () => Date,
    ttl: number,
  ) {
    super();
    this.expiringState = new StoredExpiringState(store, (tenantId, name) => this.tenantKey(tenantId, name));
    this.checkpoints = new StoredKeyCheckpoints(store);
    this.tenantKeys = new LRUCache({ max: 2_000, ttl });
    this.dataKeys = new LRUCache({ max: 5_000, ttl });
    this.signers = new LRUCache({ max: 5_000, ttl });
    this.newest = new LRUCache({ max: 5_000, ttl });
  }

  /**
   * Takes the store over: it is closed with the vault, or when this fails.
   * @throws MasterKeyMismatch when it was sealed with another master key, or with a version that is not given
   */
  static async open(opening: () => Promise<KeyStore>, options: StoredKeyVaultOptions): Promise<StoredKeyVault> {
    const masterKeys = new MasterKeys(options.masterKeys);
    const store = await opening();
    const clock = options.clock ?? (() => new Date());
    const vault = new StoredKeyVault(store, masterKeys, clock, options.believeMs ?? 0);
    try {
      await vault.start();
    } catch (error) {
      await store.close();
      throw error;
    }
    return vault;
  }

  private async start(): Promise<void> {
    const stored = await this.store.call('wrappedKeys');
    let peppers = stored.peppers;
    if (!peppers.length) {
      // A store without a pepper but with tenants is a damaged one: a new pepper would void every stored MAC.
      if (stored.tenantKeys.length) throw new Error('the key store is damaged: it has tenant keys but no pepper');
      peppers = await this.store.call('putPepper', this.masterKeys.wrap('pepper', 'p1', randomBytes(32)));
    }
    this.usePeppers(peppers);

    await rewrapKeys(this.store, this.masterKeys, { ...stored, peppers });
    // Always: a crash may have come between a destruction and its scrub.
    await this.scrub();
  }

  private usePeppers(peppers: readonly WrappedKey[]): void {
    for (const pepper of peppers) {
      this.peppers.set(pepper.id, createSecretKey(this.masterKeys.unwrap('pepper', pepper)));
      this.currentPepper = pepper.id;
    }
  }

  // --- signing keys

  async createSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey> {
    return (await this.createSigningKeys(tenantId, purpose, [algorithm]))[0]!;
  }

  async createSigningKeys(
    tenantId: string,
    purpose: SigningPurpose,
    algorithms: readonly KeyAlgorithm[],
    keyIds?: readonly string[],
  ): Promise<SigningKey[]> {
    const known = keyIds && (await this.knownSigningKeys(tenantId, keyIds));
    if (known) return known;
    const tenantKey = await this.tenantKey(tenantId);
    const rows = algorithms.map((algorithm, index) =>
      this.makeSigningKey(tenantKey, tenantId, purpose, algorithm, keyIds?.[index]),
    );
    const outcome = await this.store.call('putSigningKeys', { tenant: tenantId, rows });
    if (outcome === 'destroyed') throw new KeyNotFound(tenantId);
    for (const algorithm of algorithms) this.drop(this.newest, newestSlot(tenantId, purpose, algorithm));
    return rows.map(signingKeyOf);
  }

  /** They are made together: all of them or none. */
  private async knownSigningKeys(tenantId: string, keyIds: readonly string[]): Promise<SigningKey[] | undefined> {
    const rows = await Promise.all(keyIds.map((keyId) => this.store.call('signingKey', { tenant: tenantId, keyId })));
    return rows.every((row) => row !== undefined) ? rows.map(signingKeyOf) : undefined;
  }

  async listSigningKeys(tenantId: string, purpose: SigningPurpose): Promise<SigningKey[]> {
    const rows = await this.store.call('signingKeys', { tenant: tenantId, purpose });
    return rows.map(signingKeyOf);
  }

  ensureSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey> {
    return this.cached(this.newest, newestSlot(tenantId, purpose, algorithm), async () => {
      const found = await this.store.call('newestSigningKey', {
        tenant: tenantId,
        purpose,
        algorithm,
      });
      if (found) return signingKeyOf(found);
      const made = this.makeSigningKey(await this.tenantKey(tenantId), tenantId, purpose, algorithm);
      const kept = await this.store.call('ensureSigningKey', made);
      if (kept.state !== 'live') throw new KeyNotFound(tenantId);
      return signingKeyOf(kept.row);
    });
  }

  signer(tenantId: string, keyId: string): Promise<Signer> {
    return this.cached(this.signers, slot(tenantId, keyId), async () => {
      const row = await this.store.call('signingKey', { tenant: tenantId, keyId });
      if (!row) throw new KeyNotFound(keyId);
      const { algorithm, publicJwk, purpose } = signingKeyOf(row);
      if (algorithm === 'X25519' || algorithm === 'Bls12381G2')
        throw new TypeError(`key ${keyId} is a key of type ${algorithm}, which cannot sign`);
      const tenantKey = await this.tenantKey(tenantId, keyId);
      const d = openBytes(tenantKey, row.sealed, bind('signing-key', tenantId, purpose, keyId), `key ${keyId}`);
      const privateKey = createPrivateKey({
        key: { ...publicJwk, d: d.toString('base64url') } as webcrypto.JsonWebKey,
        format: 'jwk',
      });
      const publicKey = createPublicKey({ key: publicJwk as webcrypto.JsonWebKey, format: 'jwk' });
      const digest = algorithm === 'P-256' ? 'sha256' : null;
      const key = algorithm === 'P-256' ? ({ key: privateKey, dsaEncoding: 'ieee-p1363' } as const) : privateKey;
      return {
        keyId,
        algorithm,
        publicJwk,
        publicKey,
        sign: (data) => sign(digest, data, key),
        signAside: (data) => signAside(digest, data, key),
      };
    });
  }

  private makeSigningKey(
    tenantKey: Buffer,
    tenant: string,
    purpose: SigningPurpose,
    algorithm: KeyAlgorithm,
    keyId = newId(),
  ): SigningKeyRow {
    const { d, ...publicJwk } = generateJwk(algorithm);
    return {
      keyId,
      tenant,
      purpose,
      algorithm,
      publicJwk: JSON.stringify(publicJwk),
      createdAt: this.clock().toISOString(),
      sealed: sealBytes(tenantKey, Buffer.from(d, 'base64url'), bind('signing-key', tenant, purpose, keyId)),
    };
  }

  // --- data keys

  async createDataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<void> {
    const at = dataSlot(tenantId, keyId, purpose);
    if (this.dataKeys.has(at)) return;
    await (this.pending.get(at) ?? this.makeDataKey(tenantId, purpose, keyId, false)).durable;
  }

  async seal(tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Promise<Sealed> {
    const pending = this.pending.get(dataSlot(tenantId, keyId, purpose));
    if (pending?.mustBeNew) return sealText(pending.key, tenantId, purpose, keyId, plaintext);
    if (pending) await pending.durable;
    const found = await this.dataKey(tenantId, purpose, keyId);
    if (found.state !== 'live') throw new KeyNotFound(keyId);
    return sealText(found.key, tenantId, purpose, keyId, plaintext);
  }

  sealWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { sealed: Sealed; durable: Promise<void> } {
    const { key, durable } = this.makeDataKey(tenantId, purpose, keyId, true);
    return {
      sealed: sealText(key, tenantId, purpose, keyId, plaintext),
      durable: durable as Promise<unknown> as Promise<void>,
    };
  }

  async open(tenantId: string, purpose: DataPurpose, sealed: Sealed): Promise<string | Erased> {
    const { keyId, content } = parseSealed(sealed);
    const at = dataSlot(tenantId, keyId, purpose);
    const known = this.pending.get(at);
    if (known && !known.mustBeNew) await known.durable;
    const found: DataKey = known?.mustBeNew
      ? { state: 'live', key: known.key }
      : await this.dataKey(tenantId, purpose, keyId);
    if (found.state === 'destroyed') return ERASED;
    if (found.state === 'absent') throw new KeyNotFound(keyId);
    const what = `a value under key ${keyId}`;
    return openBytes(found.key, content, bind('value', tenantId, purpose, keyId), what).toString('utf8');
  }

  private makeDataKey(tenantId: string, purpose: DataPurpose, keyId: string, mustBeNew: boolean): PendingKey {
    if (!KEY_ID.test(keyId)) throw new TypeError('a key id is 1 to 200 visible ASCII characters');
    const at = dataSlot(tenantId, keyId, purpose);
    const key = randomBytes(32);
    const durable = this.storeDataKey(key, tenantId, purpose, keyId, mustBeNew);
    const made: PendingKey = { key, mustBeNew, durable };
    // The key of an earlier maker stays the one that `seal` uses; this one is going to be refused.
    if (!this.pending.has(at) && !this.dataKeys.has(at)) this.pending.set(at, made);
    const taken = () => this.pending.get(at) === made && this.pending.delete(at);
    // First in line, so it runs before the caller sees the outcome. An eviction meanwhile has taken the entry out:
    // then the key is not cached. A caller that is still appending is told of a rejection when it awaits `durable`.
    durable.then(
      (created) => {
        if (taken() && created) this.dataKeys.set(at, key);
      },
      () => taken(),
    );
    return made;
  }

  /** True when this key is the one stored, false when the id had one already. */
  private async storeDataKey(
    key: Buffer,
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    mustBeNew: boolean,
  ): Promise<boolean> {
    const tenantKey = this.tenantKeys.get(tenantId) ?? (await this.tenantKey(tenantId, keyId));
    const row: DataKeyRow = {
      tenant: tenantId,
      purpose,
      id: keyId,
      sealed: sealBytes(tenantKey, key, bind('data-key', tenantId, purpose, keyId)),
    };
    const found = await this.store.call('putDataKey', row);
    if (found.state !== 'live') throw new KeyNotFound(keyId);
    if (mustBeNew && !found.created) throw new KeyAlreadyExists(keyId);
    return found.created === true;
  }

  private async dataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<DataKey> {
    const at = dataSlot(tenantId, keyId, purpose);
    const known = this.dataKeys.get(at);
    if (known) return { state: 'live', key: known };
    try {
      const key = await this.cached(this.dataKeys, at, async () => {
        const found = await this.store.call('dataKey', { tenant: tenantId, purpose, id: keyId });
        if (found.state !== 'live') throw new Gone(found.state);
        const tenantKey = await this.tenantKey(tenantId, keyId);
        return openBytes(tenantKey, found.row.sealed, bind('data-key', tenantId, purpose, keyId), `key ${keyId}`);
      });
      return { state: 'live', key };
    } catch (error) {
      if (error instanceof Gone) return { state: error.state };
      throw error;
    }
  }

  // --- the tenant's key

  /** Made on first use. @throws KeyNotFound, naming `keyId`, when the tenant was destroyed */
  private tenantKey(tenantId: string, keyId = tenantId): Promise<Buffer> {
    return this.cached(this.tenantKeys, slot(tenantId), async () => {
      let found = await this.store.call('tenantKey', tenantId);
      if (found.state === 'absent')
        found = await this.store.call('putTenantKey', this.masterKeys.wrap('tenant-key', tenantId, randomBytes(32)));
      if (found.state !== 'live') throw new KeyNotFound(keyId);
      return this.masterKeys.unwrap('tenant-key', found.row);
    });
  }

  // --- endings

  async destroy(tenantId: string, keyIds: readonly string[]): Promise<void> {
    if (!keyIds.length) return;
    await this.destroyed({ tenantId, keyIds: [...keyIds] }, () =>
      this.store.call('destroy', { tenant: tenantId, keyIds: [...keyIds] }),
    );
  }

  async destroyTenant(tenantId: string): Promise<void> {
    await this.destroyed({ tenantId }, () => this.store.call('destroyTenant', tenantId));
  }

  private async destroyed(keys: KeysDestroyed, write: () => Promise<void>): Promise<void> {
    this.evict(keys.tenantId, keys.keyIds);
    await write();
    // Once more: a read that was under way may have filled the cache again.
    this.evict(keys.tenantId, keys.keyIds);
    try {
      for (const listener of this.listeners) listener(keys);
    } finally {
      await this.scrub();
    }
  }

  onDestroyed(listener: (destroyed: KeysDestroyed) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  evict(tenantId: string, keyIds?: readonly string[]): void {
    for (const keyId of keyIds ?? []) {
      this.drop(this.signers, slot(tenantId, keyId));
      for (const purpose of DATA_PURPOSES) {
        this.drop(this.dataKeys, dataSlot(tenantId, keyId, purpose));
        this.pending.delete(dataSlot(tenantId, keyId, purpose));
      }
    }
    for (const purpose of SIGNING_PURPOSES)
      for (const algorithm of ALGORITHMS) {
        const at = newestSlot(tenantId, purpose, algorithm);
        const known = this.newest.peek(at);
        if (!known || !keyIds || keyIds.includes(known.keyId)) this.drop(this.newest, at);
      }
    if (keyIds) return;
    this.drop(this.tenantKeys, slot(tenantId));
    const ofTenant = (at: string) => at.startsWith(slot(tenantId, ''));
    this.dropWhere(this.signers, ofTenant);
    this.dropWhere(this.dataKeys, ofTenant);
    for (const at of [...this.pending.keys()].filter(ofTenant)) this.pending.delete(at);
  }

  /** One truncation serves every destruction written before it starts. */
  private scrub(): Promise<void> {
    this.nextScrub ??= Promise.allSettled([this.scrubbing]).then(() => {
      this.scrubbing = this.store.call('scrub');
      this.nextScrub = undefined;
      return this.scrubbing;
    });
    return this.nextScrub;
  }

  // --- caches

  /** From the cache, else loaded once for all who ask meanwhile. */
  private cached<V extends object>(cache: LRUCache<string, V>, at: string, load: () => Promise<V>): Promise<V> {
    const known = cache.get(at);
    if (known) return Promise.resolve(known);
    const under = this.loading.get(at);
    if (under) return under as Promise<V>;
    const loaded: Promise<V> = load().then(
      (value) => {
        if (this.loading.get(at) === loaded) {
          this.loading.delete(at);
          cache.set(at, value);
        }
        return value;
      },
      (error: unknown) => {
        if (this.loading.get(at) === loaded) this.loading.delete(at);
        throw error;
      },
    );
    this.loading.set(at, loaded);
    return loaded;
  }

  private drop<V extends object>(cache: LRUCache<string, V>, at: string): void {
    cache.delete(at);
    this.loading.delete(at);
  }

  private dropWhere<V extends object>(cache: LRUCache<string, V>, matches: (at: string) => boolean): void {
    for (const at of [...cache.keys(), ...this.loading.keys()]) if (matches(at)) this.drop(cache, at);
  }

  // --- MACs

  mac(secret: string, context?: string): SecretMac {
    const pepper = this.currentPepper;
    return { pepper, mac: hmac(this.peppers.get(pepper)!, secret, context).toString('base64url') };
  }

  verifyMac(secret: string, expected: SecretMac, context?: string): boolean {
    const pepper = this.peppers.get(expected.pepper);
    if (!pepper) return false;
    // As texts: base64url has more than one spelling of a MAC, and some MACs come from callers.
    const actual = Buffer.from(hmac(pepper, secret, context).toString('base64url'));
    const given = Buffer.from(expected.mac);
    return given.length === actual.length && timingSafeEqual(given, actual);
  }

  /** A new pepper for MACs from now on; older ones still verify. Other processes see it when they open the store. */
  async rotatePepper(): Promise<string> {
    const id = `p${this.peppers.size + 1}`;
    this.usePeppers(await this.store.call('putPepper', this.masterKeys.wrap('pepper', id, randomBytes(32))));
    return this.currentPepper;
  }

  async close(): Promise<void> {
    await this.store.close();
    this.tenantKeys.clear();
    this.dataKeys.clear();
    this.signers.clear();
    this.newest.clear();
    this.peppers.clear();
  }
}

/** Inside the cache's loader only: "no key" is an answer, not a value to keep. */
class Gone extends Error {
  constructor(readonly state: 'destroyed' | 'absent') {
    super(state);
  }
}

/** The context's length stands before it and its absence has a mark of its own: no two pairs give the same bytes. */
const hmac = (pepper: KeyObject, secret: string, context: string | undefined): Buffer =>
  createHmac('sha256', pepper)
    .update(context === undefined ? `-:${secret}` : `${context.length}:${context}${secret}`)
    .digest();

const sealText = (key: Buffer, tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Sealed => {
  const content = sealBytes(key, Buffer.from(plaintext, 'utf8'), bind('value', tenantId, purpose, keyId));
  return `v1.${keyId}.${content.toString('base64url', 0, 12)}.${content.toString('base64url', 12)}`;
};

/** Key ids are the caller's and may hold dots; iv and ciphertext cannot. @throws SealBroken */
const parseSealed = (sealed: Sealed): { keyId: string; content: Buffer } => {
  const parts = /^v1\.(.+)\.([A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{22,})$/s.exec(sealed);
  if (!parts) throw new SealBroken('a value');
  return { keyId: parts[1]!, content: Buffer.from(parts[2]! + parts[3]!, 'base64url') };
};

const signingKeyOf = (row: SigningKeyRow): SigningKey => ({
  keyId: row.keyId,
  tenantId: row.tenant,
  purpose: row.purpose as SigningPurpose,
  algorithm: row.algorithm as KeyAlgorithm,
  publicJwk: JSON.parse(row.publicJwk) as PublicJwk,
  createdAt: row.createdAt,
});

const generateJwk = (algorithm: KeyAlgorithm): PublicJwk & { d: string } => {
  const exported = (key: KeyObject) => key.export({ format: 'jwk' }) as PublicJwk & { d: string };
  switch (algorithm) {
    case 'P-256':
      return exported(generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey);
    case 'Ed25519':
      return exported(generateKeyPairSync('ed25519').privateKey);
    case 'X25519':
      return exported(generateKeyPairSync('x25519').privateKey);
    case 'Bls12381G2':
      return generateBls12381G2();
  }
};
