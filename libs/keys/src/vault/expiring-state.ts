import type { Erased } from './sealing.js';

/** A text stored under a name. */
export interface StoredText {
  text: string;
  /** Changes with every write. */
  version: string;
  /** Milliseconds since 1970. The text may still be found after it, until it is deleted. */
  expiresAt: number;
}

/**
 * Short texts that expire, by tenant and name: secret state that must not become an event, such as the records of calls with an idempotency
 * key. They are durable, sealed under the tenant's key, and deleted with the tenant. Concurrent writes are detected by the version.
 */
export abstract class ExpiringState {
  /** ERASED when the tenant was destroyed. */
  abstract read(tenantId: string, name: string): Promise<StoredText | Erased | undefined>;
  /**
   * @param after the version that it replaces; absent when none may exist
   * @returns the new version, or `undefined` when the stored version is another one
   * @throws KeyNotFound when the tenant was destroyed
   */
  abstract write(
    tenantId: string,
    name: string,
    text: string,
    options: { after?: string | undefined; expiresAt: number },
  ): Promise<string | undefined>;
  /** Deletes this version; a newer one stays. */
  abstract delete(tenantId: string, name: string, version: string): Promise<void>;
  /** Several processes may do it concurrently. */
  abstract deleteExpired(now: Date): Promise<void>;
}
