/** What is kept under a key until it ends. */
export interface ExpiringRecord {
  /** Sealed by whoever puts it here; the store only sees that. */
  sealed: string;
  /** When it was spent, milliseconds since 1970. */
  spentAt?: number;
}

export interface PutRecord {
  kind: string;
  /** A bearer value, often: the store keeps its digest. */
  key: string;
  sealed: string;
  expiresAt: Date;
  /** A second key it is found by. */
  alias?: string;
  /** What it ends together with. */
  group?: string;
}

/** How often something was tried within its window. */
export interface Attempts {
  used: number;
  endsAt: Date;
}

/**
 * State that ends by itself and is nobody's history: sessions of a sign-in, codes, counters of attempts. Durable, so that a
 * restart neither signs anybody out nor forgets who tried too often.
 */
export abstract class ExpiringRecords {
  /** Replaces what stood there. Whether it was spent stays. */
  abstract put(record: PutRecord): Promise<void>;
  /** `undefined` once it has ended, to the millisecond. */
  abstract get(kind: string, key: string): Promise<ExpiringRecord | undefined>;
  abstract getByAlias(kind: string, alias: string): Promise<ExpiringRecord | undefined>;
  /** True for exactly one caller; false for what is not there. */
  abstract spend(kind: string, key: string): Promise<boolean>;
  abstract remove(kind: string, key: string): Promise<void>;
  /** Everything of the group, of whatever kind. */
  abstract removeGroup(group: string): Promise<void>;

  /** Counts one attempt in a window that begins with the first. */
  abstract attempt(kind: string, key: string, windowMs: number): Promise<Attempts>;
  /** Takes back one attempt of the current window: it succeeded, or was refused before it was made. */
  abstract takeBackAttempt(kind: string, key: string): Promise<void>;

  abstract close(): Promise<void>;
}
