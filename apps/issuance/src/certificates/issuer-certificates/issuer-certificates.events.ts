/** A certificate whose private key is in the vault and never leaves it. */
export interface StoredCertificate {
  /** Id of the key in the vault. */
  keyId: string;
  /** base64 of the DER. */
  certificate: string;
  /** SHA-256 of the DER, hex. */
  fingerprint: string;
  notBefore: string;
  notAfter: string;
  /** From then on another one is made and used instead. */
  dueAt: string;
}

export interface StoredSigner extends StoredCertificate {
  /** Credential issuer identifier, the certificate's subject alternative name. */
  issuer: string;
}

export type IssuerCertificatesEvent =
  | { type: 'IssuerCaCreated'; data: StoredCertificate }
  | { type: 'IssuerSignerCreated'; data: StoredSigner }
  /** The private key of a replaced signer is no longer in the vault. Its certificate remains published. */
  | { type: 'IssuerSignerKeyDestroyed'; data: { issuer: string; keyId: string } };
