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
}
/** `destroyed`: the id, or the whole tenant, has a tombstone. */
export type Found<T> = { state: 'live'; row: T; created?: boolean } | { state: 'destroyed' } | { state: 'absent' };

/**
 * Where a vault keeps its keys; it only ever sees sealed ones: 60 bytes, iv 12, key 32, tag 16. A destroyed key leaves a
 * tombstone, and no key is made again under its id, whoever else writes at the same time.
 */
export interface KeyStorage {
  tenantKey(tenant: string): Promise<Found<WrappedKey>>;
  /** Keeps the first of two: concurrent makers get the same key back. */
  putTenantKey(key: WrappedKey): Promise<Found<WrappedKey>>;
  /** Peppers oldest first. */
  wrappedKeys(): Promise<{ tenantKeys: WrappedKey[]; peppers: WrappedKey[] }>;
  /** Keeps the first of two with the same id. Answers all, oldest first. */
  putPepper(pepper: WrappedKey): Promise<WrappedKey[]>;
  /** Those that still are what they were `before`. */
  rewrap(changes: { tenantKeys: readonly Rewrap[]; peppers: readonly Rewrap[] }): Promise<void>;

  putSigningKeys(args: { tenant: string; rows: readonly SigningKeyRow[] }): Promise<'made' | 'destroyed'>;
  /** Keeps the given key when the tenant has none of its purpose and algorithm; answers the newest. */
  ensureSigningKey(key: SigningKeyRow): Promise<Found<SigningKeyRow>>;
  signingKey(args: { tenant: string; keyId: string }): Promise<SigningKeyRow | undefined>;
  newestSigningKey(args: { tenant: string; purpose: string; algorithm: string }): Promise<SigningKeyRow | undefined>;
  /** Oldest first. */
  signingKeys(args: { tenant: string; purpose: string }): Promise<SigningKeyRow[]>;

  /** `created`: this key is the one that is kept now. */
  putDataKey(key: DataKeyRow): Promise<Found<DataKeyRow>>;
  dataKey(key: { tenant: string; purpose: string; id: string }): Promise<Found<DataKeyRow>>;

  destroy(args: { tenant: string; keyIds: readonly string[] }): Promise<void>;
  destroyTenant(tenant: string): Promise<void>;
  /** After destructions: leaves of the old bytes as little as the engine can. */
  scrub(): Promise<void>;

  checkpoint(name: string): Promise<string | undefined>;
  setCheckpoint(args: { name: string; position: string }): Promise<void>;
  close(): Promise<void>;
}
