import type { KeyObject } from 'node:crypto';

/** Owner of keys that belong to the platform itself, not to a tenant. */
export const PLATFORM = 'platform';

export type SigningPurpose = 'did' | 'webhook' | 'token';
export type DataPurpose = 'user' | 'session' | 'delivery' | 'tenant';
export type KeyAlgorithm = 'P-256' | 'Ed25519' | 'X25519';

export interface PublicJwk {
  kty: 'EC' | 'OKP';
  crv: KeyAlgorithm;
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

/** A key made ready to sign: the private KeyObject stays inside, signing is synchronous. */
export interface Signer {
  keyId: string;
  algorithm: 'P-256' | 'Ed25519';
  publicJwk: PublicJwk;
  publicKey: KeyObject;
  /** ES256 (raw r||s, RFC 7518 §3.4) or Ed25519 (RFC 8032). */
  sign(data: Uint8Array): Uint8Array;
}

/** A value encrypted under a data key: `v1.<keyId>.<iv>.<ciphertext and tag>`, all base64url. */
export type Sealed = string;

/** What opening yields when the key was destroyed (decision 10). */
export interface Erased {
  readonly erased: true;
}
export const ERASED: Erased = Object.freeze({ erased: true });
export const isErased = (value: unknown): value is Erased =>
  typeof value === 'object' && value !== null && (value as { erased?: unknown }).erased === true;

/** MAC of a secret the platform made, with the id of the pepper it was made with (decision 26). */
export interface SecretMac {
  pepper: string;
  /** base64url HMAC-SHA256 */
  mac: string;
}

/**
 * The one store services share (decision 25). Keys are sealed at rest with AES-256-GCM under the tenant's key, with
 * tenant, purpose and key id as associated data; tenant keys are wrapped by MASTER_KEY.
 */
export abstract class KeyVault {
  abstract createSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /** Several keys in one durable write. */
  abstract createSigningKeys(
    tenantId: string,
    purpose: SigningPurpose,
    algorithms: readonly KeyAlgorithm[],
  ): Promise<SigningKey[]>;
  /** Oldest first, public parts only. */
  abstract listSigningKeys(tenantId: string, purpose: SigningPurpose): Promise<SigningKey[]>;
  /** The newest key of that purpose and algorithm, made when there is none; concurrent callers get the same one. */
  abstract ensureSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /** Cached. @throws KeyNotFound */
  abstract signer(tenantId: string, keyId: string): Promise<Signer>;

  /** Makes a data key under an id of the caller's choosing (a user, session or delivery id). Making it twice is no fault. */
  abstract createDataKey(tenantId: string, purpose: DataPurpose, keyId: string): Promise<void>;
  /** Encrypts UTF-8 text. The key may still be on its way to the disk. @throws KeyNotFound */
  abstract seal(tenantId: string, purpose: DataPurpose, keyId: string, plaintext: string): Promise<Sealed>;
  /** Makes the key and seals in one step; resolves when the key is durable. */
  abstract sealWithNewKey(
    tenantId: string,
    purpose: DataPurpose,
    keyId: string,
    plaintext: string,
  ): { sealed: Sealed; durable: Promise<void> };
  abstract open(tenantId: string, purpose: DataPurpose, sealed: Sealed): Promise<string | Erased>;

  /**
   * Destroys keys for good: they are overwritten in the file, the log is truncated, and caches here and (by an
   * event) elsewhere drop them. Destroying an absent key is no fault.
   */
  abstract destroy(tenantId: string, keyIds: readonly string[]): Promise<void>;

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

/** Single-use values: c_nonce, proof ids. Durable; fails closed (decision 17). */
export abstract class ReplayGuard {
  /** True exactly once for a value within its life; rejects when the store cannot tell. */
  abstract spend(scope: string, value: string, expiresAt: Date): Promise<boolean>;
}
