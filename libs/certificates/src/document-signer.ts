import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  CRLDistributionPointsExtension,
  ExtendedKeyUsageExtension,
  IssuerAlternativeNameExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Pkcs10CertificateRequestGenerator,
  PublicKey,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
  type Extension,
} from '@peculiar/x509';
import { describeCertificate, parseDer, parsePem, readCertificate, type Certificate } from './certificate.js';
import { CertificateFault, throwFaults } from './certificate-fault.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, spkiOf, type CertificateKey } from './certificate-key.js';
import {
  hasKeyUsage,
  isAuthority,
  isMdlDocumentSigner,
  MDL_DOCUMENT_SIGNER,
  refersToKeyOf,
  sharedProfileFaults,
} from './profile.js';
import { serialNumber } from './serial-number.js';
import { isSameName, readSubject, subjectFaults, subjectName } from './subject.js';

const DAY_MS = 86_400_000;

export interface SignerPeriod {
  notBefore: Date;
  notAfter: Date;
  /** Another certificate signs from then on. */
  signsUntil: Date;
}

/**
 * How long a certificate that begins at `from` lives: 457 days for driving licences, otherwise 3,650 days; it ends with its IACA at the latest.
 * It signs for 30 days, so that each document of 427 or 3,620 days ends before it. One of 3,650 days that ends with its IACA signs until then,
 * because no later one would live longer.
 * @throws CertificateFault when the IACA is not valid at `from`
 */
export const documentSignerPeriod = (
  documents: 'mDL' | 'other',
  from: Date,
  iaca: Pick<Certificate, 'notBefore' | 'notAfter'>,
): SignerPeriod => {
  const notBefore = new Date(Math.floor(from.getTime() / 1000) * 1000);
  if (notBefore < iaca.notBefore || notBefore >= iaca.notAfter)
    throw new CertificateFault(['notBefore must be within the validity of the IACA']);
  const within = (days: number) => new Date(Math.min(notBefore.getTime() + days * DAY_MS, iaca.notAfter.getTime()));
  const notAfter = within(documents === 'mDL' ? 457 : 3650);
  const isLast = documents === 'other' && notAfter.getTime() === iaca.notAfter.getTime();
  return { notBefore, notAfter, signsUntil: isLast ? notAfter : within(30) };
};

export interface DocumentSignerFacts {
  /** DER of an IACA made by `createIaca`; its country, state, issuer alternative name and CRL distribution point are taken over. */
  iaca: Uint8Array;
  iacaKey: CertificateKey;
  publicKey: KeyObject;
  commonName: string;
  notBefore: Date;
  notAfter: Date;
  /** Random bytes. */
  random: (length: number) => Uint8Array;
}

/** The certificate of a document signer, ISO/IEC 18013-5 Annex B.1.4. @throws CertificateFault */
export const createDocumentSigner = async (facts: DocumentSignerFacts): Promise<Certificate> => {
  const { notBefore, notAfter } = facts;
  const iaca = new X509Certificate(new Uint8Array(facts.iaca));
  const subject = { ...readSubject(iaca.subjectName)!, commonName: facts.commonName };
  throwFaults([...subjectFaults(subject), ...validityFaults(notBefore, notAfter, iaca)]);
  const publicKey = new PublicKey(spkiOf(facts.publicKey));
  const { rawData } = await X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(facts.random),
      subject: subjectName(subject),
      issuer: iaca.subjectName,
      notBefore,
      notAfter,
      publicKey,
      signingKey: SIGNING_KEY,
      signingAlgorithm: ECDSA_SHA256,
      extensions: [
        new AuthorityKeyIdentifierExtension(iaca.getExtension(SubjectKeyIdentifierExtension)!.keyId),
        await SubjectKeyIdentifierExtension.create(publicKey),
        ...usageExtensions(),
        iaca.getExtension(IssuerAlternativeNameExtension)!,
        iaca.getExtension(CRLDistributionPointsExtension)!,
      ],
    },
    signingCrypto(facts.iacaKey),
  );
  return readCertificate(new Uint8Array(rawData));
};

/**
 * A PKCS#10 request in PEM for a signer whose IACA the customer keeps. It asks for the country and state of the IACA.
 * @throws CertificateFault
 */
export const createDocumentSignerRequest = async (
  key: CertificateKey,
  iaca: Uint8Array,
  commonName: string,
): Promise<string> => {
  const subject = { ...readSubject(new X509Certificate(new Uint8Array(iaca)).subjectName)!, commonName };
  throwFaults(subjectFaults(subject));
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: subjectName(subject),
      keys: { publicKey: SIGNING_KEY, privateKey: SIGNING_KEY },
      signingAlgorithm: ECDSA_SHA256,
      extensions: usageExtensions(),
    },
    signingCrypto(key),
  );
  return request.toString('pem');
};

const usageExtensions = (): Extension[] => [
  new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  new ExtendedKeyUsageExtension([MDL_DOCUMENT_SIGNER], true),
];

/**
 * The certificate that a customer issued for a request.
 * @param publicKey of the request
 * @throws CertificateFault with every rule that it breaks
 */
export const parseDocumentSigner = (pem: string, iacaDer: Uint8Array, publicKey: KeyObject, now: Date): Certificate => {
  const { x509, node } = parsePem(pem);
  const iaca = parseDer(iacaDer);
  const [subject, authority] = [readSubject(x509.subjectName), readSubject(iaca.x509.subjectName)];
  const { notAfter } = x509;
  throwFaults([
    !node.publicKey.equals(publicKey) && 'must contain the public key of csrPem',
    !(isSameName(x509.issuerName, iaca.x509.subjectName) && node.verify(iaca.node.publicKey)) &&
      'must be issued by the IACA of the signer',
    notAfter <= now && `must not be expired: it ended at ${notAfter.toISOString()}`,
    ...validityFaults(x509.notBefore, notAfter, iaca.x509),
    subject?.country !== authority?.country && 'must have the countryName of the IACA',
    subject?.stateOrProvinceName !== authority?.stateOrProvinceName && 'must have the stateOrProvinceName of the IACA',
    !refersToKeyOf(x509, iaca.x509) && 'must have the key identifier of the IACA as its authority key identifier',
    isAuthority(x509) && 'must not be the certificate of a CA',
    !hasKeyUsage(x509, KeyUsageFlags.digitalSignature) &&
      'must have the critical key usage digitalSignature, and no other',
    !isMdlDocumentSigner(x509) && `must have the critical extended key usage ${MDL_DOCUMENT_SIGNER}`,
    ...sharedProfileFaults(x509, node.publicKey),
  ]);
  return describeCertificate({ x509, node });
};

const validityFaults = (notBefore: Date, notAfter: Date, iaca: X509Certificate): string[] => {
  const faults: string[] = [];
  if (notAfter <= notBefore) faults.push('notAfter must be later than notBefore');
  if (notBefore < iaca.notBefore || notAfter > iaca.notAfter) faults.push('must not be valid before or after the IACA');
  return faults;
};
