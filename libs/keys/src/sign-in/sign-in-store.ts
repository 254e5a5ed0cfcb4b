/** A record stored under a key until it expires. */
export interface SignInRecord {
  /** Sealed by the caller. */
  sealed: string;
  /** When it was spent, milliseconds since 1970. */
  spentAt?: number;
}

export interface PutRecord {
  kind: string;
  /** Often a bearer value: the store has only its digest. */
  key: string;
  sealed: string;
  expiresAt: Date;
  /** A second key by which it is found. */
  alias?: string;
  /** Records of one group are removed together. */
  group?: string;
}

/** Sessions, codes and grants of the built-in sign-in. Durable, so that a restart does not sign users out. */
export abstract class SignInRecords {
  /** Replaces the record of this key. Whether it was spent is kept. */
  abstract put(record: PutRecord): Promise<void>;
  /** `undefined` once it has expired, to the millisecond. */
  abstract get(kind: string, key: string): Promise<SignInRecord | undefined>;
  abstract getByAlias(kind: string, alias: string): Promise<SignInRecord | undefined>;
  /** True for exactly one caller; false for a record that does not exist. */
  abstract spend(kind: string, key: string): Promise<boolean>;
  abstract remove(kind: string, key: string): Promise<void>;
  /** Deletes every record of the group, of whatever kind. */
  abstract removeGroup(group: string): Promise<void>;
}

/** Sign-in attempts counted within a window. */
export interface CountedAttempts {
  used: number;
  endsAt: Date;
}

/** Counters of sign-in attempts. Durable, so that a restart does not reset a budget of failed sign-ins (ADR 0048). */
export abstract class SignInAttempts {
  /** Counts one attempt in a window that begins with the first. */
  abstract count(kind: string, key: string, windowMs: number): Promise<CountedAttempts>;
  /** Takes back one attempt of the current window: it succeeded, or was refused before it was made. */
  abstract takeBack(kind: string, key: string): Promise<void>;
}

/** Records of the built-in sign-in (ADR 0035). */
export abstract class SignInStore {
  abstract readonly records: SignInRecords;
  abstract readonly attempts: SignInAttempts;
  abstract close(): Promise<void>;
}
