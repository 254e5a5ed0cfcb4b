import { KeyCache } from './key-cache.js';
import type { KeyStore } from './key-store.js';
import { KeyNotFound } from '../vault/key-vault.js';
import type { MasterKeys } from './master-keys.js';
import { pooledBytes } from '../vault/secrets.js';

/** The key of each tenant, under which its other keys are sealed; wrapped by MASTER_KEY. */
export class TenantKeys extends KeyCache<Buffer> {
  constructor(
    private readonly store: KeyStore,
    private readonly masterKeys: MasterKeys,
    ttl: number,
  ) {
    super({ max: 2_000, ttl });
  }

  /** Created on first use. @throws KeyNotFound, naming `keyId`, when the tenant was destroyed */
  loadTenantKey(tenantId: string, keyId = tenantId): Promise<Buffer> {
    return this.loadOnce(tenantId, async () => {
      let found = await this.store.call('tenantKey', tenantId);
      if (found.state === 'absent')
        found = await this.store.call('putTenantKey', this.masterKeys.wrap('tenant-key', tenantId, pooledBytes(32)));
      if (found.state !== 'live') throw new KeyNotFound(keyId);
      return this.masterKeys.unwrap('tenant-key', found.row);
    });
  }
}
