import { Injectable } from '@nestjs/common';
import type { WebhookKeySet } from '@attestry/contracts';
import { KeyVault, type Signer } from '@attestry/keys';
import { LRUCache } from 'lru-cache';

/** How long the newest key of a tenant is taken for the newest, milliseconds. */
const REMEMBERED_MS = 60_000;

/** The Ed25519 keys that sign a tenant's webhooks: made at first need, by the first webhook or the first reader. */
@Injectable()
export class WebhookKeys {
  private readonly newest = new LRUCache<string, string>({ max: 10_000, ttl: REMEMBERED_MS });

  constructor(private readonly vault: KeyVault) {}

  /** @throws KeyNotFound when the tenant's keys were destroyed */
  async signer(tenantId: string): Promise<Signer> {
    let keyId = this.newest.get(tenantId);
    if (keyId === undefined) {
      keyId = await this.ensure(tenantId);
      this.newest.set(tenantId, keyId);
    }
    return this.vault.signer(tenantId, keyId);
  }

  async ensure(tenantId: string): Promise<string> {
    return (await this.vault.ensureSigningKey(tenantId, 'webhook', 'Ed25519')).keyId;
  }

  /** RFC 8037 §2. All of them, older ones too: their signatures may still be under way. */
  async keySet(tenantId: string): Promise<WebhookKeySet> {
    await this.ensure(tenantId);
    const keys = await this.vault.listSigningKeys(tenantId, 'webhook');
    return {
      keys: keys.map(({ keyId, publicJwk: { kty, crv, x } }) => ({
        kty,
        crv,
        x,
        use: 'sig',
        kid: keyId,
        alg: 'EdDSA',
      })),
    };
  }
}
