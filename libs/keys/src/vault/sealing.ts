import type { UnitWrite } from '@attestry/event-store';

export type DataPurpose = 'user' | 'session' | 'delivery' | 'tenant';

/** A value encrypted under a data key: `v1.<keyId>.<iv>.<ciphertext and tag>`; iv and ciphertext are base64url. */
export type Sealed = string;

/** A sealed value that is stored with its key instead of in the event, which contains this (ADR 0101). */
export interface StoredValue {
  keyId: string;
  /** Bytes of the sealed value. */
  length: number;
  /** Digest of the sealed value, base64url. */
  sha256: string;
}

/** `isStored`: it may be in the store; a unit that was refused in one transaction leaves no key. */
export type NewKey = UnitWrite & { readonly isStored: boolean };

/** The result of opening a sealed value whose key was destroyed (ADR 0058). */
export interface Erased {
  readonly erased: true;
}
export const ERASED: Erased = Object.freeze({ erased: true });
export const isErased = (value: unknown): value is Erased =>
  (value as { erased?: unknown } | null | undefined)?.erased === true;

/** Values encrypted under data keys; destroying a key makes every value under it unreadable (ADR 0058). */
export abstract class Sealing {
  /**
   * Creates a data key under an id chosen by the caller (a user, session or delivery id). Idempotent; a destroyed id cannot be created
   * again. @throws KeyNotFound when the id, or the whole tenant, was destroyed
   */
  abstract createDataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<void>;
  /** Encrypts UTF-8 text. The key may not be durable yet. @throws KeyNotFound */
  abstract sealText(tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Promise<Sealed>;
  /**
   * Seals under a key that must be new and becomes durable with the unit of work of the event that contains `sealed`. Storing it rejects
   * with KeyAlreadyExists, or KeyNotFound when the id was destroyed.
   */
  abstract sealWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { sealed: Sealed; newKey: NewKey };
  /** Seals like {@link sealWithNewKey}, but the value is stored with its key, in the same write, and ends with it. */
  abstract storeWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { stored: StoredValue; newKey: NewKey };
  /**
   * The same at once, durable when it resolves; what an earlier call stored under this id stays, and is returned. `newKey`, unless it is
   * that of the earlier call, is stored already: a unit of work only counts its bytes.
   * @throws KeyNotFound when the id was destroyed
   */
  abstract storeText(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): Promise<{ stored: StoredValue; newKey?: NewKey }>;
  /**
   * ERASED when the key was destroyed. @throws KeyNotFound for a key that never existed
   * @throws SealBroken when the stored value is missing, or another one than that named
   */
  abstract openStored(tenantId: string, purpose: DataPurpose, stored: StoredValue): Promise<string | Erased>;
  /**
   * ERASED when the key was destroyed. @throws KeyNotFound for a key that never existed: a fault, not an erasure
   * @throws SealBroken when the text was changed or belongs to another tenant, purpose or key
   */
  abstract openSealed(tenantId: string, purpose: DataPurpose, sealed: Sealed): Promise<string | Erased>;
  /**
   * Destroys keys permanently: they are overwritten in the store, its log is truncated, and caches here and (by an
   * event) in other processes drop them. Destroying an absent key is no error.
   */
  abstract destroyDataKeys(tenantId: string, keyIds: readonly string[]): Promise<void>;
}
