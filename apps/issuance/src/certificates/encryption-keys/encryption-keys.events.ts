/** A P-256 key to which wallets encrypt credential requests. Its private part is in the vault and never leaves it. */
export interface EncryptionKey {
  /** Id of the key in the vault; `kid` in the metadata and in the header of a JWE. */
  keyId: string;
  /** base64url. */
  x: string;
  y: string;
  createdAt: string;
  /** From then on another one is made and published instead. */
  dueAt: string;
}

export type EncryptionKeysEvent =
  /** Published instead of the one before it, which is accepted a while longer. */
  | { type: 'EncryptionKeyCreated'; data: EncryptionKey & { replacedKeyId?: string } }
  /** The private key of a replaced key is no longer in the vault. */
  | { type: 'EncryptionKeyDestroyed'; data: { keyId: string } };
