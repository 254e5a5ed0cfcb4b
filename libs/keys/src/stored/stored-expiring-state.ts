import { ExpiringState, type StoredText } from '../vault/expiring-state.js';
import type { KeyStore } from './key-store.js';
import { KeyNotFound } from '../vault/key-vault.js';
import { bind, openBytes, sealBytes } from './seal.js';
import { ERASED, type Erased } from '../vault/sealing.js';
import { newId } from '../vault/secrets.js';
import type { TenantKeys } from './tenant-keys.js';

/** Must not change: the name is part of the associated data. */
const binding = (tenantId: string, name: string) => bind('remembered', tenantId, name);

/** Rows deleted in one transaction. */
const PORTION = 1000;

/** ExpiringState beside the keys, in the same store. */
export class StoredExpiringState extends ExpiringState {
  constructor(
    private readonly store: KeyStore,
    private readonly tenantKeys: TenantKeys,
  ) {
    super();
  }

  async read(tenantId: string, name: string): Promise<StoredText | Erased | undefined> {
    const row = await this.store.call('readExpiring', { tenant: tenantId, name });
    if (!row) return undefined;
    const { version, expiresAt, sealed } = row;
    const tenantKey = await this.tenantKeys.loadTenantKey(tenantId, name).catch((error: unknown) => {
      if (error instanceof KeyNotFound) return undefined;
      throw error;
    });
    if (!tenantKey) return ERASED;
    const opened = openBytes(tenantKey, sealed, binding(tenantId, name), 'expiring state');
    return { text: opened.toString(), version, expiresAt };
  }

  async write(
    tenantId: string,
    name: string,
    text: string,
    { after, expiresAt }: { after?: string | undefined; expiresAt: number },
  ): Promise<string | undefined> {
    const tenantKey = await this.tenantKeys.loadTenantKey(tenantId, name);
    const sealed = sealBytes(tenantKey, Buffer.from(text), binding(tenantId, name));
    const version = newId();
    const row = { tenant: tenantId, name, version, expiresAt, sealed, after };
    return (await this.store.call('writeExpiring', row)) ? version : undefined;
  }

  delete(tenantId: string, name: string, version: string): Promise<void> {
    return this.store.call('deleteExpiring', { tenant: tenantId, name, version });
  }

  async deleteExpired(now: Date): Promise<void> {
    const portion = { now: now.getTime(), limit: PORTION };
    while (await this.store.call('deleteExpired', portion));
  }
}
