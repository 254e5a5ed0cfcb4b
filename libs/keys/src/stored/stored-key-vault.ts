import { setTimeout as pause } from 'node:timers/promises';
import { KeyVault, type KeysDestroyed } from '../vault/key-vault.js';
import { StoredKeyCheckpoints } from '../vault/key-checkpoints.js';
import { TENANT_TABLES, type KeyStore, type TenantTable } from './key-store.js';
import { MasterKeys, type MasterKeysGiven } from './master-keys.js';
import { rewrapKeys } from './rewrap-keys.js';
import { pooledBytes } from '../vault/secrets.js';
import { StoredExpiringState } from './stored-expiring-state.js';
import { StoredMacs } from './stored-macs.js';
import { StoredSealing } from './stored-sealing.js';
import { StoredSigningKeys } from './stored-signing-keys.js';
import { TenantKeys } from './tenant-keys.js';

export interface StoredKeyVaultOptions {
  masterKeys: MasterKeysGiven;
  /** Stamps `createdAt`. */
  clock?: () => Date;
  /**
   * How long a cached key is used, milliseconds, where other processes may destroy it: they publish that, but a message may be lost when
   * its sender crashes. Default: without limit.
   */
  believeMs?: number;
}

const SCRUB_PAUSE_MS = 100;
const SCRUB_RETRY_MS = 1000;
/** Rows of a purged tenant that are destroyed in one transaction: other writers wait no longer than for these. */
const PORTIONS: Record<TenantTable, number> = {
  sealed_values: 16,
  signing_keys: 1000,
  data_keys: 1000,
  expiring_state: 1000,
};

/** KeyVault over a store of sealed keys. Encryption happens in its ports; the store never receives a key in plain text. */
export class StoredKeyVault extends KeyVault {
  readonly signingKeys: StoredSigningKeys;
  readonly sealing: StoredSealing;
  readonly macs: StoredMacs;
  readonly expiringState: StoredExpiringState;
  readonly checkpoints: StoredKeyCheckpoints;
  private readonly tenantKeys: TenantKeys;
  private readonly listeners = new Set<(destroyed: KeysDestroyed) => void>();
  private scrubbing: Promise<void> = Promise.resolve();
  private nextScrub: Promise<void> | undefined;
  private scrubbedAt = -Infinity;
  private retry: NodeJS.Timeout | undefined;

  private constructor(
    private readonly store: KeyStore,
    private readonly masterKeys: MasterKeys,
    clock: () => Date,
    ttl: number,
  ) {
    super();
    const destroyKeys = (tenantId: string, keyIds: readonly string[]) => this.destroyKeys(tenantId, keyIds);
    this.tenantKeys = new TenantKeys(store, masterKeys, ttl);
    this.signingKeys = new StoredSigningKeys(store, this.tenantKeys, destroyKeys, clock, ttl);
    this.sealing = new StoredSealing(store, this.tenantKeys, destroyKeys, ttl);
    this.macs = new StoredMacs(masterKeys);
    this.expiringState = new StoredExpiringState(store, this.tenantKeys);
    this.checkpoints = new StoredKeyCheckpoints(store);
  }

  /**
   * Takes ownership of the store: it is closed with the vault, or when this fails.
   * @throws MasterKeyMismatch when it was sealed with another master key, or with a version that is not given
   */
  static async load(opening: () => Promise<KeyStore>, options: StoredKeyVaultOptions): Promise<StoredKeyVault> {
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
      // A store without a pepper but with tenants is damaged: a new pepper would invalidate every stored MAC.
      if (stored.tenantKeys.length) throw new Error('the key store is damaged: it has tenant keys but no pepper');
      peppers = await this.store.call('putPepper', this.masterKeys.wrap('pepper', 'p1', pooledBytes(32)));
    }
    this.macs.usePeppers(peppers);

    await rewrapKeys(this.store, this.masterKeys, { ...stored, peppers });
    // Always: a crash may have occurred between a destruction and its scrub.
    await this.scrub();
  }

  // --- destruction

  private async destroyKeys(tenantId: string, keyIds: readonly string[]): Promise<void> {
    if (!keyIds.length) return;
    await this.destroyAndEvict({ tenantId, keyIds: [...keyIds] }, () =>
      this.store.call('destroy', { tenant: tenantId, keyIds: [...keyIds] }),
    );
  }

  /** Interrupted between two portions, it is finished by the next call. */
  async destroyTenant(tenantId: string): Promise<void> {
    await this.destroyAndEvict({ tenantId }, () => this.store.call('endTenant', tenantId));
    for (const table of TENANT_TABLES)
      for (let after: string | undefined; ;) {
        const rows = { tenant: tenantId, table, limit: PORTIONS[table], ...(after !== undefined && { after }) };
        after = await this.store.call('destroyRows', rows);
        if (after === undefined) break;
      }
    await this.scrub();
  }

  private async destroyAndEvict(keys: KeysDestroyed, write: () => Promise<void>): Promise<void> {
    this.evict(keys.tenantId, keys.keyIds);
    await write();
    // Once more: a read in progress may have filled the cache again.
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
    this.signingKeys.evict(tenantId, keyIds);
    this.sealing.evict(tenantId, keyIds);
    if (!keyIds) this.tenantKeys.evict(tenantId);
  }

  /**
   * One truncation serves every destruction written before it starts. The file may be that of the events: it is truncated no more than ten
   * times a second, and while something reads it, later and not waited for.
   */
  private scrub(): Promise<void> {
    this.nextScrub ??= Promise.allSettled([this.scrubbing]).then(async () => {
      const wait = this.scrubbedAt + SCRUB_PAUSE_MS - performance.now();
      if (wait > 0) await pause(wait);
      this.nextScrub = undefined;
      this.scrubbing = this.scrubNow();
      return this.scrubbing;
    });
    return this.nextScrub;
  }

  private async scrubNow(): Promise<void> {
    const isDone = await this.store.call('scrub');
    this.scrubbedAt = performance.now();
    if (isDone) return;
    clearTimeout(this.retry);
    // One that fails is made up for by the next destruction or the next start.
    this.retry = setTimeout(() => void Promise.allSettled([this.scrub()]), SCRUB_RETRY_MS).unref();
  }

  async close(): Promise<void> {
    clearTimeout(this.retry);
    await Promise.allSettled([this.nextScrub ?? this.scrubbing]);
    await this.store.close();
    this.tenantKeys.clear();
    await this.signingKeys.close();
    this.sealing.clear();
    this.macs.clear();
  }
}
