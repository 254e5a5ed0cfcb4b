import type { KeyObject } from 'node:crypto';
import type { ExpiringState } from './expiring-state.js';
import type { KeyCheckpoints } from './key-checkpoints.js';

/** Owner of keys that belong to the platform itself, not to a tenant. */
export const PLATFORM = 'platform';

export type SigningPurpose = 'did' | 'webhook' | 'token' | 'sign-in';
export type DataPurpose = 'user' | 'session' | 'delivery' | 'tenant';
/** `Bls12381G2` keys wait for BBS signatures: they are kept and published, nothing is signed with them yet. */
export type KeyAlgorithm = 'P-256' | 'Ed25519' | 'X25519' | 'Bls12381G2';

export interface PublicJwk {
  kty: 'EC' | 'OKP';
  crv: KeyAlgorithm;
  /** base64url; of a Bls12381G2 key the compressed point, 96 bytes. */
  x: string;
  y?: string;
}

export interface SigningKey {
  /** uuid; shown as `kmsKeyId`. */
  keyId: string;
  tenantId: string;
  purpose: SigningPurpose;
  algorithm: KeyAlgorithm;
  publicJwk: PublicJwk;
  createdAt: string;
}

/** A key made ready to sign: the private KeyObject stays inside. */
export interface Signer {
  keyId: string;
  algorithm: 'P-256' | 'Ed25519';
  publicJwk: PublicJwk;
  publicKey: KeyObject;
  /** ES256 (raw r||s, RFC 7518 §3.4) or Ed25519 (RFC 8032). */
  sign(data: Uint8Array): Uint8Array;
  /** The same in a thread of libuv's pool: it takes longer, and the caller's thread is free meanwhile. */
  signAside(data: Uint8Array): Promise<Uint8Array>;
}

/** A value encrypted under a data key: `v1.<keyId>.<iv>.<ciphertext and tag>`; iv and ciphertext are base64url. */
export type Sealed = string;

/** The result of opening a sealed value whose key was destroyed (ADR 0058). */
export interface Erased {
  readonly erased: true;
}
export const ERASED: Erased = Object.freeze({ erased: true });
export const isErased = (value: unknown): value is Erased =>
  typeof value === 'object' && value !== null && (value as { erased?: unknown }).erased === true;

/** MAC of a secret the platform made, with the id of the pepper it was made with (ADR 0058). */
export interface SecretMac {
  pepper: string;
  /** base64url HMAC-SHA256 */
  mac: string;
}

/** Keys that are gone for good; without `keyIds` it is everything the tenant had. */
export interface KeysDestroyed {
  tenantId: string;
  keyIds?: readonly string[];
}

/**
 * The only store that services share (ADR 0058). Keys are sealed at rest with AES-256-GCM under the tenant's key, with
 * tenant, purpose and key id as associated data; tenant keys are wrapped by MASTER_KEY.
 */
export abstract class KeyVault {
  abstract readonly expiringState: ExpiringState;
  abstract readonly checkpoints: KeyCheckpoints;

  abstract createSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /**
   * Several keys in one durable write.
   * @param keyIds of the caller's choosing, one for each; made before, the keys are those of then
   */
  abstract createSigningKeys(
    tenantId: string,
    purpose: SigningPurpose,
    algorithms: readonly KeyAlgorithm[],
    keyIds?: readonly string[],
  ): Promise<SigningKey[]>;
  /** Oldest first, public parts only. */
  abstract listSigningKeys(tenantId: string, purpose: SigningPurpose): Promise<SigningKey[]>;
  /** The newest key of that purpose and algorithm, made when there is none; concurrent callers get the same one. */
  abstract ensureSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /** Cached. @throws KeyNotFound; TypeError for an X25519 or Bls12381G2 key, which cannot sign */
  abstract signer(tenantId: string, keyId: string): Promise<Signer>;

  /**
   * Makes a data key under an id of the caller's choosing (a user, session or delivery id). Making it twice is no
   * fault; a destroyed id never lives again. @throws KeyNotFound when the id, or the whole tenant, was destroyed
   */
  abstract createDataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<void>;
  /** Encrypts UTF-8 text. The key may still be on its way to the disk. @throws KeyNotFound */
  abstract seal(tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Promise<Sealed>;
  /**
   * Makes the key and seals in one step. `sealed` is there at once, so that the caller can append its event while
   * `durable` is under way; an event whose key did not become durable is lost, so await both before answering.
   * `durable` rejects with KeyAlreadyExists (the text must then be thrown away) or KeyNotFound (id was destroyed).
   */
  abstract sealWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { sealed: Sealed; durable: Promise<void> };
  /**
   * ERASED when the key was destroyed. @throws KeyNotFound for a key that never was: a fault, not an erasure
   * @throws SealBroken when the text was changed or belongs elsewhere
   */
  abstract open(tenantId: string, purpose: DataPurpose, sealed: Sealed): Promise<string | Erased>;

  /**
   * Destroys keys for good: they are overwritten in the file, the log is truncated, and caches here and (by an
   * event) elsewhere drop them. Destroying an absent key is no fault.
   */
  abstract destroy(tenantId: string, keyIds: readonly string[]): Promise<void>;
  /** Destroys the tenant's own key and every key under it; no key of this tenant can be made again. */
  abstract destroyTenant(tenantId: string): Promise<void>;
  /** Called after keys were destroyed through this vault, so that the eviction can be published. Returns "stop". */
  abstract onDestroyed(listener: (destroyed: KeysDestroyed) => void): () => void;
  /** Drops keys from the caches: the receiving end of `onDestroyed`. Without `keyIds`, all of the tenant's. */
  abstract evict(tenantId: string, keyIds?: readonly string[]): void;

  /** HMAC-SHA256 under the current pepper. `context` binds the MAC to its place (for example the offer id). */
  abstract mac(secret: string, context?: string): SecretMac;
  /** Constant time. False for an unknown pepper. */
  abstract verifyMac(secret: string, expected: SecretMac, context?: string): boolean;

  abstract close(): Promise<void>;
}

export class KeyNotFound extends Error {
  override readonly name = 'KeyNotFound';
  constructor(readonly keyId: string) {
    super(`no key ${keyId}`);
  }
}

/** `sealWithNewKey` met an id that has a key already. */
export class KeyAlreadyExists extends Error {
  override readonly name = 'KeyAlreadyExists';
  constructor(readonly keyId: string) {
    super(`key ${keyId} exists already`);
  }
}

/** The sealed text was changed, cut, or belongs to another tenant, purpose or key. */
export class SealBroken extends Error {
  override readonly name = 'SealBroken';
  constructor(readonly what: string) {
    super(`the seal of ${what} is broken`);
  }
}

/** MASTER_KEY, or a previous version of it, does not fit the key store. */
export class MasterKeyMismatch extends Error {
  override readonly name = 'MasterKeyMismatch';
}

/** The guard cannot tell whether a value was spent; it may be spent now. */
export class ReplayGuardUnavailable extends Error {
  override readonly name = 'ReplayGuardUnavailable';
}

/** Single-use values: c_nonce, proof ids. Durable; fails closed (ADR 0059). */
export abstract class ReplayGuard {
  /** True exactly once for a value within its life, never after it. @throws ReplayGuardUnavailable when the store cannot tell */
  abstract spend(scope: string, value: string, expiresAt: Date): Promise<boolean>;
  abstract close(): Promise<void>;
}

/** The store cannot be reached or refused; nothing is known to have been stored. */
export class KeyVaultUnavailable extends Error {
  override readonly name = 'KeyVaultUnavailable';
}
