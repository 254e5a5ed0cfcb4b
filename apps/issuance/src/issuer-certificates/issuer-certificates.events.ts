/** A certificate whose private key is in the vault and never leaves it. */
export interface StoredCertificate {
  /** Of the key in the vault. */
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

/** Of the lease of the periodic job; absent where a request needed the first certificate. */
interface Fenced {
  epoch?: number;
}

export type IssuerCertificatesEvent =
  | { type: 'IssuerCaCreated'; data: StoredCertificate & Fenced }
  | { type: 'IssuerSignerCreated'; data: StoredSigner & Fenced }
  /** The private key of a replaced signer is no longer in the vault. Its certificate remains published. */
  | { type: 'IssuerSignerKeyDestroyed'; data: { issuer: string; keyId: string } & Fenced };
