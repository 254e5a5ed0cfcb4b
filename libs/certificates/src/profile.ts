import type { KeyObject } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  CRLDistributionPointsExtension,
  ExtendedKeyUsageExtension,
  IssuerAlternativeNameExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  type X509Certificate,
} from '@peculiar/x509';
import { subjectFaults, readSubject } from './subject.js';

/** id-mdl-kp-mdlDS, ISO/IEC 18013-5 Annex B.1.4. */
export const MDL_DOCUMENT_SIGNER = '1.0.18013.5.1.2';

export const IACA_KEY_USAGE = KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign;

const HASHES = ['SHA-256', 'SHA-384', 'SHA-512'];
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
const KNOWN_EXTENSIONS: readonly string[] = [
  '2.5.29.14', // subject key identifier
  '2.5.29.15', // key usage
  '2.5.29.18', // issuer alternative name
  '2.5.29.19', // basic constraints
  '2.5.29.31', // CRL distribution points
  '2.5.29.35', // authority key identifier
  '2.5.29.37', // extended key usage
];

type Faults = (string | false | undefined)[];

/** The rules that ISO/IEC 18013-5 Annex B has for the certificates of an issuing authority and of its signers. */
export const sharedProfileFaults = (certificate: X509Certificate, publicKey: KeyObject): Faults => {
  const unknown = certificate.extensions.filter(({ critical, type }) => critical && !KNOWN_EXTENSIONS.includes(type));
  const subject = readSubject(certificate.subjectName);
  return [
    !isEcdsaSignature(certificate) && 'must be signed with ECDSA and SHA-256, SHA-384 or SHA-512',
    !hasEllipticKey(publicKey) && 'must have an EC key on P-256, P-384 or P-521',
    ...(subject ? subjectFaults(subject).map((fault) => `must name its subject correctly: ${fault}`) : []),
    !subject && 'must have a subject with countryName and commonName',
    !certificate.getExtension(SubjectKeyIdentifierExtension) && 'must have a subject key identifier',
    !hasAlternativeName(certificate) && 'must have an issuer alternative name that is an e-mail address or a URI',
    !hasDistributionPoint(certificate) && 'must have a CRL distribution point that is a URI',
    ...unknown.map(({ type }) => `must not have the critical extension ${type}`),
  ];
};

export const hasEllipticKey = (publicKey: KeyObject): boolean =>
  CURVES.includes(publicKey.asymmetricKeyDetails?.namedCurve ?? '');

/** ISO/IEC 18013-5 Annex B allows ECDSA with these hashes only. */
export const isEcdsaSignature = (signed: Pick<X509Certificate, 'signatureAlgorithm'>): boolean => {
  // The library's type extends one of the DOM.
  const { name, hash } = signed.signatureAlgorithm as { name?: string; hash?: { name: string } };
  return name === 'ECDSA' && HASHES.includes(hash?.name ?? '');
};

export const isAuthority = (certificate: X509Certificate): boolean => {
  const constraints = certificate.getExtension(BasicConstraintsExtension);
  return constraints?.ca === true && constraints.pathLength === 0 && constraints.critical;
};

export const hasKeyUsage = (certificate: X509Certificate, usages: KeyUsageFlags): boolean => {
  const extension = certificate.getExtension(KeyUsagesExtension);
  return extension?.usages === usages && extension.critical;
};

export const hasMdlUsage = (certificate: X509Certificate): boolean =>
  certificate.getExtension(ExtendedKeyUsageExtension)?.usages.includes(MDL_DOCUMENT_SIGNER) ?? false;
export const isMdlDocumentSigner = (certificate: X509Certificate): boolean =>
  hasMdlUsage(certificate) && certificate.getExtension(ExtendedKeyUsageExtension)!.critical;

/** The authority key identifier of `certificate` is the subject key identifier of `authority`, RFC 5280 §4.2.1.1. */
export const refersToKeyOf = (certificate: X509Certificate, authority: X509Certificate): boolean => {
  const keyId = certificate.getExtension(AuthorityKeyIdentifierExtension)?.keyId;
  return keyId !== undefined && keyId === authority.getExtension(SubjectKeyIdentifierExtension)?.keyId;
};

const hasAlternativeName = (certificate: X509Certificate): boolean => {
  const names = certificate.getExtension(IssuerAlternativeNameExtension)?.names.items ?? [];
  return names.length > 0 && names.every(({ type }) => type === 'url' || type === 'email');
};

const hasDistributionPoint = (certificate: X509Certificate): boolean => {
  const points = certificate.getExtension(CRLDistributionPointsExtension)?.distributionPoints ?? [];
  return points.some((point) =>
    point.distributionPoint?.fullName?.some(({ uniformResourceIdentifier }) =>
      /^https?:/.test(uniformResourceIdentifier ?? ''),
    ),
  );
};
