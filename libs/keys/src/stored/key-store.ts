/** Port of a store, which only handles sealed keys. Sealed keys are 60 bytes: iv 12, key 32, tag 16. */
export interface WrappedKey {
  id: string;
  /** 64 bytes: version of the master key (4, big endian), then the sealed key. */
  wrapped: Uint8Array;
}
export interface Rewrap extends WrappedKey {
  before: Uint8Array;
}
export interface SigningKeyRow {
  keyId: string;
  tenant: string;
  purpose: string;
  algorithm: string;
  publicJwk: string;
  createdAt: string;
  sealed: Uint8Array;
}
export interface DataKeyRow {
  tenant: string;
  purpose: string;
  id: string;
  sealed: Uint8Array;
  /** Sealed under this key and stored with it, until it is destroyed (ADR 0101). */
  value?: Uint8Array;
}
/** `destroyed`: the id, or the whole tenant, has a tombstone. */
export type Found<T> = { state: 'live'; row: T; created?: boolean } | { state: 'destroyed' } | { state: 'absent' };

export interface ExpiringRow {
  tenant: string;
  name: string;
  version: string;
  expiresAt: number;
  sealed: Uint8Array;
}

/** `sealed_values` has the values that are stored with a data key; its rows are deleted with that key. */
export type KeyTable = 'tenant_keys' | 'signing_keys' | 'data_keys' | 'sealed_values';
/** Tables with the rows of a tenant. */
export const TENANT_TABLES = ['sealed_values', 'signing_keys', 'data_keys', 'expiring_state'] as const;
export type TenantTable = (typeof TENANT_TABLES)[number];
/** A stored row, also of a destroyed key. */
export interface StoredKey {
  tenantId: string;
  /** Empty for a tenant's own key. */
  id: string;
  /** Empty for a tenant's own key. */
  purpose: string;
  live: boolean;
  sealed: Uint8Array;
  /** Algorithm of a signing key. */
  algorithm?: string;
  publicJwk?: string;
  createdAt?: string;
}

/** Operations of a key store for the vault above it, each durable and all or nothing. */
export interface KeyJobs {
  wrappedKeys: [undefined, { tenantKeys: WrappedKey[]; peppers: WrappedKey[] }];
  /** Keeps the first of two: every caller gets all peppers, oldest first. */
  putPepper: [WrappedKey, WrappedKey[]];
  /** A row that another process rewrapped meanwhile is left alone. */
  rewrap: [{ tenantKeys: Rewrap[]; peppers: Rewrap[] }, void];
  tenantKey: [string, Found<WrappedKey>];
  /** Keeps the first of two: concurrent creators get the same key. */
  putTenantKey: [WrappedKey, Found<WrappedKey>];
  putSigningKeys: [{ tenant: string; rows: SigningKeyRow[] }, 'made' | 'destroyed'];
  ensureSigningKey: [SigningKeyRow, Found<SigningKeyRow>];
  signingKey: [{ tenant: string; keyId: string }, SigningKeyRow | undefined];
  newestSigningKey: [{ tenant: string; purpose: string; algorithm: string }, SigningKeyRow | undefined];
  /** Oldest first. */
  signingKeys: [{ tenant: string; purpose: string }, SigningKeyRow[]];
  putDataKey: [DataKeyRow, Found<DataKeyRow>];
  dataKey: [{ tenant: string; purpose: string; id: string }, Found<DataKeyRow>];
  /** The value that is stored with a data key; `absent` without one. */
  storedValue: [{ tenant: string; purpose: string; id: string }, Found<{ value: Uint8Array }>];
  /** An absent key gets its tombstone too: its creation may still be in flight. */
  destroy: [{ tenant: string; keyIds: string[] }, void];
  /** Destroys the tenant's own key for good: nothing under it can be opened, read or created from then on. */
  endTenant: [string, void];
  /**
   * Destroys the next rows of an ended tenant, in the order of their names. Returns the last name, after which the next portion begins;
   * `undefined` when no rows are left.
   */
  destroyRows: [{ tenant: string; table: TenantTable; after?: string; limit: number }, string | undefined];
  /** Removes earlier destroyed keys from the disk as far as the engine can. False while something else reads it: try again. */
  scrub: [undefined, boolean];
  /** Rows in an order of the store's own, in which signing keys are in the order of their creation. */
  pageOfKeys: [
    { table: KeyTable; after?: string; limit: number; tenantId?: string | undefined },
    { rows: StoredKey[]; next?: string },
  ];
  /** All rows of these ids, whatever their purpose. */
  findKeys: [{ table: KeyTable; keys: { tenantId: string; id: string }[] }, StoredKey[]];
  /** Adds missing rows unchanged, a value only where its key is live; overwrites the others with zeros. */
  keepKeys: [{ table: KeyTable; add: StoredKey[]; destroy: StoredKey[] }, void];
  readExpiring: [{ tenant: string; name: string }, ExpiringRow | undefined];
  /** True when the present row was the given one, or absent as expected. */
  writeExpiring: [ExpiringRow & { after: string | undefined }, boolean];
  deleteExpiring: [{ tenant: string; name: string; version: string }, void];
  /** A portion, so that other writes run in between; whether there are more. */
  deleteExpired: [{ now: number; limit: number }, boolean];
  checkpoint: [string, string | undefined];
  /** False when the stored position is not `previous`. */
  setCheckpoint: [{ name: string; position: string; previous: string | undefined }, boolean];
}

export interface KeyStore {
  /** The same object as that of an event store whose transactions can add keys. */
  readonly engine: object;
  /** Job of the engine that adds a data key, which must be new, with its value; its argument is the row. */
  readonly newKeyJob: string;
  call<Job extends keyof KeyJobs>(job: Job, args?: KeyJobs[Job][0]): Promise<KeyJobs[Job][1]>;
  close(): Promise<void>;
}
