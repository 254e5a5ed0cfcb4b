import { CertificateKeys } from './certificate-keys/certificate-keys.js';
import { DestroyedCertificateKeys } from './certificate-keys/destroyed-certificate-keys.js';
import { Crls } from './document-signers/crls.js';
import { DocumentSigners } from './document-signers/document-signers.js';
import { EncryptionKeys } from './encryption-keys/encryption-keys.js';
import { IssuerSigners } from './issuer-certificates/issuer-signers.js';
import { IssuerMaterial } from './issuer-material/issuer-material.js';
import { NewKeys } from './new-keys/new-keys.js';
import { CertificateRenewals } from './renew-certificates/certificate-renewals.js';
import { RenewCertificates } from './renew-certificates/renew-certificates.worker.js';

export const certificatesProviders = [
  NewKeys,
  CertificateKeys,
  DestroyedCertificateKeys,
  IssuerSigners,
  DocumentSigners,
  Crls,
  CertificateRenewals,
  RenewCertificates,
  EncryptionKeys,
  IssuerMaterial,
];
