import { Injectable } from '@nestjs/common';
import type { SealDataRequest } from '@attestry/contracts';
import { isErased, KeyNotFound, Sealing, type DataPurpose } from '@attestry/keys';

/** The tenant's own key for what was asked and answered. */
const TENANT_KEY = 'operation-data';
const PURPOSES: ReadonlyMap<string, DataPurpose> = new Map([
  ['t', 'tenant'],
  ['u', 'user'],
]);

/**
 * What calls asked and answered, sealed: under the key of the person it tells about, or of the tenant when it tells about
 * nobody. Destroying that key makes it unreadable (ADR 0058).
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
        // Nobody's, or of somebody who is gone: then only what tells about nobody is kept.
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

  /** Null when there is nothing, or its key is gone. */
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
