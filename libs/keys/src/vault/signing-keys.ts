import type { KeyObject } from 'node:crypto';
import type { DecryptOptions } from 'jose';

/** Keys of purpose `encryption` decrypt and never sign; all others sign and never decrypt. */
export type SigningPurpose = 'did' | 'webhook' | 'token' | 'sign-in' | 'certificate' | 'encryption' | 'client';
/** `Bls12381G2` keys make BBS proofs; they have no {@link Signer}. */
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

/** A key that is ready to sign: the private KeyObject stays inside. */
export interface Signer {
  keyId: string;
  algorithm: 'P-256' | 'Ed25519';
  publicJwk: PublicJwk;
  publicKey: KeyObject;
  /** ES256 (raw r||s, RFC 7518 §3.4) or Ed25519 (RFC 8032). */
  sign(data: Uint8Array): Uint8Array;
  /** The same on a thread of libuv's pool: it takes longer, but does not block the caller's thread. */
  signAside(data: Uint8Array): Promise<Uint8Array>;
}

/** A P-256 key that is ready to decrypt: the private KeyObject stays inside. */
export interface Decrypter {
  keyId: string;
  /**
   * The plaintext of a compact JWE with the algorithm ECDH-ES (RFC 7518 §4.6); another one is refused whatever `options` allow. Runs aside.
   * @throws JOSEError
   */
  decrypt(jwe: string, options: Omit<DecryptOptions, 'keyManagementAlgorithms'>): Promise<Uint8Array>;
}

/** Key pairs of tenants and of the platform. Private keys never leave the implementation. */
export abstract class SigningKeys {
  abstract createSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /**
   * Several keys in one durable write.
   * @param keyIds chosen by the caller, one for each; when they exist already, the existing keys are returned
   */
  abstract createSigningKeys(
    tenantId: string,
    purpose: SigningPurpose,
    algorithms: readonly KeyAlgorithm[],
    keyIds?: readonly string[],
  ): Promise<SigningKey[]>;
  /** Oldest first, public parts only. */
  abstract listSigningKeys(tenantId: string, purpose: SigningPurpose): Promise<SigningKey[]>;
  /** The newest key of that purpose and algorithm, created when there is none; concurrent callers get the same one. */
  abstract ensureSigningKey(tenantId: string, purpose: SigningPurpose, algorithm: KeyAlgorithm): Promise<SigningKey>;
  /** Cached. @throws KeyNotFound; TypeError for an X25519 or Bls12381G2 key or one for encryption, which cannot sign */
  abstract loadSigner(tenantId: string, keyId: string): Promise<Signer>;
  /**
   * A BBS proof of a signature by a `Bls12381G2` key over the header and no messages (draft-irtf-cfrg-bbs-signatures §3.5): nothing is
   * hidden, so that everyone verifies it with the header. Made in a worker thread; random.
   * @throws KeyNotFound; BbsProofNotMade; TypeError for a key of another type
   */
  abstract proveBbs(tenantId: string, keyId: string, header: Uint8Array): Promise<Uint8Array>;
  /** Cached. @throws KeyNotFound; TypeError for a key that is not one for encryption on P-256 */
  abstract loadDecrypter(tenantId: string, keyId: string): Promise<Decrypter>;
  /**
   * Destroys keys permanently: they are overwritten in the store, its log is truncated, and caches here and (by an
   * event) in other processes drop them. Destroying an absent key is no error.
   */
  abstract destroySigningKeys(tenantId: string, keyIds: readonly string[]): Promise<void>;
}
