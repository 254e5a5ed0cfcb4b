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

/** Written by earlier releases: the epoch of the lease under which it was appended. */
interface Fenced {
  epoch?: number;
}

export type IssuerCertificatesEvent =
  | { type: 'IssuerCaCreated'; data: StoredCertificate & Fenced }
  | { type: 'IssuerSignerCreated'; data: StoredSigner & Fenced }
  /** The private key of a replaced signer is no longer in the vault. Its certificate remains published. */
  | { type: 'IssuerSignerKeyDestroyed'; data: { issuer: string; keyId: string } & Fenced };
