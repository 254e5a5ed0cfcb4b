import { hash } from 'node:crypto';
import { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, type X509Certificate } from '@peculiar/x509';
import { LRUCache } from 'lru-cache';
import { parseDer, parsePem, type ParsedCertificate } from './certificate.js';
import { CertificateFault } from './certificate-fault.js';
import { extensionsFault } from './extension-limits.js';

/** Certificates of a chain, without the trust anchor. */
const MAX_CHAIN = 5;
const MAX_CERTIFICATE_BYTES = 4096;

/** Extensions that {@link verifyCertificateChain} applies or that restrict nothing of it; another critical one is refused (RFC 5280 §4.2). */
const KNOWN_CRITICAL: readonly string[] = [
  '2.5.29.15', // key usage
  '2.5.29.17', // subject alternative name
  '2.5.29.19', // basic constraints
  '2.5.29.37', // extended key usage
];

interface VerifiedChain {
  signer: ParsedCertificate;
  /** All certificates of the path are valid from then and up to then, milliseconds since 1970. */
  from: number;
  until: number;
}

/** By chain and anchors. Everyone who uses one product presents its chain, and verifying one costs more than the signature of a JWS. */
const verified = new LRUCache<string, VerifiedChain>({ max: 1000 });

/** A trust anchor that was checked when it was stored. */
export const readTrustAnchor = (pem: string): ParsedCertificate => parsePem(pem);

/**
 * The certificate of the signer of a JWS, with the chain of RFC 7515 §4.1.6: each certificate certifies the previous one, and a trust anchor
 * certifies the last (RFC 5280 §6.1). The anchor itself is not in the chain, and the signer is not self-signed (HAIP 1.0 §4.4.1).
 * @param chain base64 DER, the signer's first
 * @throws CertificateFault
 */
export const verifyCertificateChain = (
  chain: readonly string[],
  anchors: readonly ParsedCertificate[],
  now: Date,
): ParsedCertificate => {
  if (chain.length === 0 || chain.length > MAX_CHAIN)
    throw new CertificateFault([`must have 1 to ${MAX_CHAIN} certificates`]);
  const key = hash('sha256', JSON.stringify([chain, anchors.map(({ node }) => node.fingerprint256)]), 'base64url');
  const known = verified.get(key);
  if (known && known.from <= now.getTime() && now.getTime() <= known.until) return known.signer;
  const certificates = chain.map((text, position) => parseEntry(text, position));
  const [signer] = certificates as [ParsedCertificate];
  for (const [position, certificate] of certificates.entries()) {
    const fault = extensionsFault(certificate.x509.extensions);
    refuse(position, fault === undefined ? [] : [fault]);
    refuse(position, periodFaults(certificate.x509, now));
    refuse(position, [...criticalFaults(certificate.x509), ...signatureFaults(certificate.x509)]);
    if (anchors.some(({ node }) => node.raw.equals(certificate.node.raw)))
      refuse(position, ['must not be the trust anchor itself']);
  }
  refuse(0, signerFaults(signer));
  for (const [below, authority] of certificates.slice(1).entries())
    refuse(below + 1, authorityFaults(authority, below));
  // Before the signatures below it: a chain that leads to no anchor has keys of anyone, which can make a verification slow.
  const last = certificates.at(-1)!;
  const trusted = anchors.find(
    (anchor) =>
      isIssuedBy(last, anchor) &&
      authorityFaults(anchor, certificates.length - 1).length === 0 &&
      periodFaults(anchor.x509, now).length === 0,
  );
  if (!trusted) throw new CertificateFault(['must be issued by a configured root certificate that is valid']);
  for (let position = certificates.length - 2; position >= 0; position--)
    if (!isIssuedBy(certificates[position]!, certificates[position + 1]!))
      refuse(position, ['must be issued by the certificate that follows it']);
  const path = [...certificates, trusted].map(({ x509 }) => x509);
  verified.set(key, {
    signer,
    from: Math.max(...path.map(({ notBefore }) => notBefore.getTime())),
    until: Math.min(...path.map(({ notAfter }) => notAfter.getTime())),
  });
  return signer;
};

const parseEntry = (text: string, position: number): ParsedCertificate => {
  // Base64, not base64url (RFC 7515 §4.1.6); the length is checked before it is decoded.
  if (text.length > Math.ceil(MAX_CERTIFICATE_BYTES / 3) * 4 || !/^[A-Za-z0-9+/]+={0,2}$/.test(text))
    throw faultOf(position, [`must be base64 of at most ${MAX_CERTIFICATE_BYTES} bytes`]);
  try {
    return parseDer(Buffer.from(text, 'base64'));
  } catch {
    throw faultOf(position, ['must be an X.509 certificate']);
  }
};

const faultOf = (position: number, faults: readonly string[]) =>
  new CertificateFault(faults.map((fault) => `certificate ${position + 1} ${fault}`));

const refuse = (position: number, faults: readonly string[]): void => {
  if (faults.length) throw faultOf(position, faults);
};

const periodFaults = ({ notBefore, notAfter }: X509Certificate, now: Date): string[] => {
  if (now < notBefore) return [`must be valid: it begins at ${notBefore.toISOString()}`];
  return now > notAfter ? [`must not be expired: it ended at ${notAfter.toISOString()}`] : [];
};

const criticalFaults = ({ extensions }: X509Certificate): string[] =>
  extensions
    .filter(({ critical, type }) => critical && !KNOWN_CRITICAL.includes(type))
    .map(({ type }) => `must not have the critical extension ${type}`);

const HASHES = ['SHA-256', 'SHA-384', 'SHA-512'];

const signatureFaults = ({ signatureAlgorithm }: X509Certificate): string[] => {
  // The library's type extends one of the DOM.
  const { hash } = signatureAlgorithm as { hash?: { name: string } };
  return HASHES.includes(hash?.name ?? '') ? [] : [`must be signed with one of: ${HASHES.join(', ')}`];
};

/** @param below number of CA certificates between this one and the signer's */
export const authorityFaults = ({ x509 }: ParsedCertificate, below: number): string[] => {
  const constraints = x509.getExtension(BasicConstraintsExtension);
  if (constraints?.ca !== true) return ['must be the certificate of a CA'];
  if (constraints.pathLength !== undefined && constraints.pathLength < below)
    return [`must allow a path length of ${below}`];
  return [...criticalFaults(x509), ...keyUsageFaults(x509, KeyUsageFlags.keyCertSign, 'keyCertSign')];
};

const signerFaults = (signer: ParsedCertificate): string[] => [
  ...(isIssuedBy(signer, signer) ? ['must not be self-signed'] : []),
  ...keyUsageFaults(signer.x509, KeyUsageFlags.digitalSignature, 'digitalSignature'),
];

/** Applied where the certificate has the extension, RFC 5280 §4.2.1.3. */
const keyUsageFaults = (certificate: X509Certificate, usage: KeyUsageFlags, name: string): string[] => {
  const extension = certificate.getExtension(KeyUsagesExtension);
  return extension && !(extension.usages & usage) ? [`must have the key usage ${name}`] : [];
};

const isIssuedBy = ({ node }: ParsedCertificate, issuer: ParsedCertificate): boolean =>
  node.checkIssued(issuer.node) && node.verify(issuer.node.publicKey);
