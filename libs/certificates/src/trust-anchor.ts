import 'reflect-metadata';
import { BasicConstraintsExtension } from '@peculiar/x509';
import { describeCertificate, parsePem, type Certificate } from './certificate.js';
import { throwFaults } from './certificate-fault.js';
import { checkExtensions } from './extension-limits.js';
import { hasEllipticKey } from './profile.js';

/** A CA whose certificates are trusted, whoever issued its own (RFC 5280 §6.1.1). @throws CertificateFault with every rule that it breaks */
export const parseTrustAnchor = (pem: string, now: Date): Certificate => {
  const { x509, node } = parsePem(pem);
  checkExtensions(x509);
  throwFaults([
    x509.getExtension(BasicConstraintsExtension)?.ca !== true && 'must be the certificate of a CA (basic constraints)',
    !hasEllipticKey(node.publicKey) && 'must have an EC key on P-256, P-384 or P-521',
    x509.notAfter <= now && `must not be expired: it ended at ${x509.notAfter.toISOString()}`,
  ]);
  return describeCertificate({ x509, node });
};
