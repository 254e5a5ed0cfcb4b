import { Injectable } from '@nestjs/common';
import type { SealDataRequest } from '@attestry/contracts';
import { isErased, KeyNotFound, Sealing, type DataPurpose } from '@attestry/keys';

/** The tenant's key for logged requests and responses. */
const TENANT_KEY = 'operation-data';
const PURPOSES: ReadonlyMap<string, DataPurpose> = new Map([
  ['t', 'tenant'],
  ['u', 'user'],
]);

/**
 * Logged requests and responses, sealed under the key of the person they concern, or of the tenant when they concern no person. Destroying
 * that key makes them unreadable (ADR 0058).
 */
@Injectable()
export class LoggedDataKeys {
  private readonly made = new Set<string>();

  constructor(private readonly sealing: Sealing) {}

  /** `u.` or `t.` and the sealed text. @throws KeyNotFound when the tenant is gone */
  async seal({ tenantId, general, personId, personal }: SealDataRequest): Promise<string> {
    if (personId !== undefined && personal !== undefined) {
      try {
        return `u.${await this.sealing.sealText(tenantId, 'user', personId, JSON.stringify(personal))}`;
      } catch (error) {
        // No person, or one whose key is destroyed: then only data that concerns no person is kept.
        if (!(error instanceof KeyNotFound)) throw error;
      }
    }
    const text = JSON.stringify(general);
    if (!this.made.has(tenantId)) {
      await this.sealing.createDataKey(tenantId, 'tenant', TENANT_KEY);
      this.made.add(tenantId);
    }
    return `t.${await this.sealing.sealText(tenantId, 'tenant', TENANT_KEY, text)}`;
  }

  /** Null when there is no data, or its key is destroyed. */
  async openLoggedData(tenantId: string, data: string | null): Promise<Record<string, unknown> | null> {
    const purpose = data === null ? undefined : PURPOSES.get(data.slice(0, 1));
    if (data === null || purpose === undefined) return null;
    try {
      const text = await this.sealing.openSealed(tenantId, purpose, data.slice(2));
      return isErased(text) ? null : (JSON.parse(text) as Record<string, unknown>);
    } catch (error) {
      if (error instanceof KeyNotFound) return null;
      throw error;
    }
  }
}
