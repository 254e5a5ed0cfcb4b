import type { CertificateData } from '@attestry/contracts';

/**
 * Objects that a signer signs: documents that differ in how long their signers live (ISO/IEC 18013-5 Annex B.1.4), or the status lists of
 * both.
 */
export type Documents = 'mDL' | 'other' | 'statusList';

export interface StoredX509 {
  /** base64 of the DER. */
  certificate: string;
  /** SHA-256 of the DER, hex. */
  fingerprint: string;
  /** Hex, lower case. */
  serialNumber: string;
  data: CertificateData;
  /** Hosts of its alternative names, in lower case; absent where they have none. */
  hosts?: readonly string[];
}

export interface StoredIaca extends StoredX509 {
  iacaId: string;
  /** Id of the key in the vault; absent for an unmanaged IACA, whose owner keeps the key. */
  keyId?: string;
}

/** A CRL as it is published. */
export interface StoredCrl {
  iacaId: string;
  /** Decimal. That of a managed IACA is the revision of this event. */
  number: string;
  /** base64 of the DER. */
  crl: string;
  thisUpdate: string;
  nextUpdate: string;
  /** From then on another one is made; absent for an unmanaged IACA, and where the IACA ends before. */
  dueAt?: string;
  /** Serial numbers of the signers that it revokes or holds, as far as they are here: hex, lower case. */
  revoked: string[];
}

/** Signer of a managed IACA. */
export interface IssuedSigner extends StoredX509 {
  documentSignerId: string;
  iacaId: string;
  documents: Documents;
  keyId: string;
  /** From then on another one signs. */
  signsUntil: string;
  /** From then on another one is made; absent where none could live longer, because the IACA ends. */
  dueAt?: string;
}

/** Signer of an unmanaged IACA, for which the IACA has issued no certificate yet. */
export interface RequestedSigner {
  documentSignerId: string;
  iacaId: string;
  keyId: string;
  /** PEM. */
  csr: string;
  /** Absent: signs documents. */
  documents?: 'statusList';
}

export interface UpdatedSigner {
  documentSignerId: string;
  active: boolean;
  /** Absent where the certificate did not change. */
  issued?: StoredX509;
  /** With `issued`: of its key. */
  keyId?: string;
  changedAt: string;
}

export type MobileCertificatesEvent =
  | { type: 'IacaCreated'; data: StoredIaca }
  | { type: 'IacaUpdated'; data: { iacaId: string; active: boolean } }
  | { type: 'IacaDeleted'; data: { iacaId: string } }
  | { type: 'CrlPublished'; data: StoredCrl }
  | { type: 'DocumentSignerIssued'; data: IssuedSigner }
  | { type: 'DocumentSignerRequested'; data: RequestedSigner }
  | { type: 'DocumentSignerUpdated'; data: UpdatedSigner }
  | { type: 'DocumentSignerRevoked'; data: { documentSignerId: string; revokedAt: string } }
  | { type: 'DocumentSignerDeleted'; data: { documentSignerId: string } }
  /** Private keys of what was deleted, revoked or has ended. They are destroyed in the vault before it, or by each reader of this event. */
  | { type: 'CertificateKeysDestroyed'; data: { destroyedKeys: string[] } }
  /** The tenant has lost the domain, or verified it again. `revision` of the custom domain's stream, by which repeated events are recognized. */
  | { type: 'SignersOfDomainHeld'; data: { domain: string; revision: number; heldAt: string } }
  | { type: 'SignersOfDomainReleased'; data: { domain: string; revision: number } };
