export { readCertificate, type Certificate, type ParsedCertificate } from './certificate.js';
export { readTrustAnchor, verifyCertificateChain } from './certificate-chain.js';
export { CertificateFault } from './certificate-fault.js';
export type { CertificateKey } from './certificate-key.js';
export {
  createDocumentSigner,
  createDocumentSignerRequest,
  documentSignerPeriod,
  parseDocumentSigner,
  type DocumentSignerFacts,
  type Signed,
  type SignerPeriod,
} from './document-signer.js';
export { createIaca, parseIaca, type IacaFacts } from './iaca.js';
export {
  createIssuerAuthority,
  createIssuerSigner,
  type IssuerAuthorityFacts,
  type IssuerSignerFacts,
} from './issuer-signer.js';
export {
  createRevocationList,
  parseRevocationList,
  type RevocationList,
  type RevocationListFacts,
  type RevocationReason,
  type RevokedCertificate,
  revokedSerialNumbers,
} from './revocation-list.js';
export type { CertificateSubject } from './subject.js';
export { parseTrustAnchor } from './trust-anchor.js';
