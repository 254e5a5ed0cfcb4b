import { Inject, Injectable } from '@nestjs/common';
import type { SealDataRequest } from '@attestry/contracts';
import { isErased, KeyNotFound, SealBroken, Sealing, type DataPurpose } from '@attestry/keys';
import { LOGGER, type Logger } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { EventContents, EventRow } from '../event-lists/select-events.js';

/** The tenant's key for logged requests and responses. */
const TENANT_KEY = 'operation-data';
const PURPOSES: ReadonlyMap<string, DataPurpose> = new Map([
  ['t', 'tenant'],
  ['u', 'user'],
]);

type LoggedRow = Pick<EventRow & EventContents, 'id' | 'tenant_id' | 'request_id' | 'data'>;

/**
 * Logged requests and responses, sealed under the key of the person they concern, or of the tenant when they concern no person. Destroying
 * that key makes them unreadable (ADR 0058).
 */
@Injectable()
export class LoggedDataKeys {
  private readonly made = new Set<string>();

  /** Ids of entries whose broken data has been logged. */
  private readonly logged = new LRUCache<string, true>({ max: 10_000 });

  constructor(
    private readonly sealing: Sealing,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

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

  /** Null when there is no data, its key is destroyed or it cannot be opened, which is logged: the other entries of a page are listed. */
  async openLoggedData({
    id,
    tenant_id: tenantId,
    request_id: requestId,
    data,
  }: LoggedRow): Promise<Record<string, unknown> | null> {
    const purpose = data === null ? undefined : PURPOSES.get(data.slice(0, 1));
    if (data === null || purpose === undefined) return null;
    try {
      const text = await this.sealing.openSealed(tenantId, purpose, data.slice(2));
      return isErased(text) ? null : (JSON.parse(text) as Record<string, unknown>);
    } catch (error) {
      if (error instanceof KeyNotFound) return null;
      if (!(error instanceof SealBroken)) throw error;
      if (!this.logged.has(id)) {
        this.logged.set(id, true);
        this.logger.error({ tenantId, requestId, event: id, error: error.message }, 'logged data cannot be opened');
      }
      return null;
    }
  }
}
