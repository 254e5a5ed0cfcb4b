import 'reflect-metadata';
import { BasicConstraintsExtension } from '@peculiar/x509';
import { describeCertificate, type Certificate } from './certificate.js';
import { authorityFaults } from './certificate-chain.js';
import { throwFaults } from './certificate-fault.js';
import { hasEllipticKey } from './profile.js';
import { parseUploadedCertificate } from './uploaded-certificate.js';

/**
 * A CA whose certificates are trusted, whoever issued its own (RFC 5280 §6.1.1). One that begins later is accepted; one that no chain can ever
 * lead to is not.
 * @throws CertificateFault with every rule that it breaks
 */
export const parseTrustAnchor = (pem: string, now: Date): Certificate => {
  const { x509, node, faults } = parseUploadedCertificate(pem);
  const isAuthority = x509.getExtension(BasicConstraintsExtension)?.ca === true;
  const authority = isAuthority ? authorityFaults({ x509, node }, 0) : [];
  throwFaults([
    ...faults,
    !isAuthority && 'must be the certificate of a CA (basic constraints)',
    ...authority,
    // Otherwise OpenSSL names no certificate that this one issued.
    authority.length === 0 && isAuthority && !node.ca && 'must have extensions that OpenSSL can read',
    !hasEllipticKey(node.publicKey) && 'must have an EC key on P-256, P-384 or P-521',
    x509.notAfter <= x509.notBefore && 'notAfter must be later than notBefore',
    x509.notAfter <= now && `must not be expired: it ended at ${x509.notAfter.toISOString()}`,
  ]);
  return describeCertificate({ x509, node });
};
