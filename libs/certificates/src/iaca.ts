import 'reflect-metadata';
import {
  CRLDistributionPointsExtension,
  ExtendedKeyUsageExtension,
  IssuerAlternativeNameExtension,
} from '@peculiar/x509';
import { describeCertificate, type Certificate } from './certificate.js';
import { throwFaults } from './certificate-fault.js';
import type { CertificateKey } from './certificate-key.js';
import { hasKeyUsage, IACA_KEY_USAGE, isAuthority, sharedProfileFaults } from './profile.js';
import { createRoot } from './root.js';
import { parseUploadedCertificate } from './uploaded-certificate.js';
import { isSameName, subjectFaults, subjectName, type CertificateSubject } from './subject.js';

export interface IacaFacts {
  key: CertificateKey;
  subject: CertificateSubject;
  notBefore: Date;
  notAfter: Date;
  /** Issuer alternative name: the address of the custom domain, or else of the tenant. */
  issuerUrl: string;
  /** Where the CRL is published. */
  crlUrl: string;
  /** Random bytes. */
  random: (length: number) => Uint8Array;
}

/** A self-signed root of an issuing authority, ISO/IEC 18013-5 Annex B.1.2. @throws CertificateFault */
export const createIaca = async (facts: IacaFacts): Promise<Certificate> => {
  const { subject, notBefore, notAfter } = facts;
  throwFaults([...subjectFaults(subject), ...validityFaults(notBefore, notAfter)]);
  return createRoot(facts, subjectName(subject), [
    new IssuerAlternativeNameExtension([{ type: 'url', value: facts.issuerUrl }]),
    new CRLDistributionPointsExtension([facts.crlUrl]),
  ]);
};

/** The root of an issuing authority that keeps its own key. @throws CertificateFault with every rule that it breaks */
export const parseIaca = (pem: string, now: Date): Certificate => {
  const { x509, node, faults } = parseUploadedCertificate(pem);
  const { notBefore, notAfter } = x509;
  throwFaults([
    ...faults,
    !(isSameName(x509.subjectName, x509.issuerName) && node.verify(node.publicKey)) && 'must be signed by its own key',
    notBefore > now && `must be valid already: it begins at ${notBefore.toISOString()}`,
    notAfter <= now && `must not be expired: it ended at ${notAfter.toISOString()}`,
    ...validityFaults(notBefore, notAfter),
    !isAuthority(x509) && 'must have critical basic constraints of a CA with path length 0',
    !hasKeyUsage(x509, IACA_KEY_USAGE) && 'must have the critical key usages keyCertSign and cRLSign, and no other',
    x509.getExtension(ExtendedKeyUsageExtension) !== null && 'must not have an extended key usage',
    ...sharedProfileFaults(x509, node.publicKey),
  ]);
  return describeCertificate({ x509, node });
};

const validityFaults = (notBefore: Date, notAfter: Date): string[] => {
  const latest = new Date(notBefore);
  latest.setUTCFullYear(latest.getUTCFullYear() + 20);
  const faults: string[] = [];
  if (notAfter <= notBefore) faults.push('notAfter must be later than notBefore');
  if (notAfter > latest) faults.push('notAfter must be at most 20 years after notBefore');
  return faults;
};
