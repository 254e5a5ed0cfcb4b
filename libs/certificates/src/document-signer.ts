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
import { describeCertificate, parseDer, readCertificate, type Certificate } from './certificate.js';
import { CertificateFault, throwFaults } from './certificate-fault.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, spkiOf, type CertificateKey } from './certificate-key.js';
import {
  hasKeyUsage,
  hasMdlUsage,
  isAuthority,
  isMdlDocumentSigner,
  MDL_DOCUMENT_SIGNER,
  refersToKeyOf,
  sharedProfileFaults,
} from './profile.js';
import { serialNumber } from './serial-number.js';
import { parseUploadedCertificate } from './uploaded-certificate.js';
import { isSameName, readSubject, subjectFaults, subjectName } from './subject.js';

const DAY_MS = 86_400_000;

export interface SignerPeriod {
  notBefore: Date;
  notAfter: Date;
  /** Another certificate signs from then on. */
  signsUntil: Date;
}

/** Objects that a signer signs: mobile driving licences, other documents, or status lists of both. */
export type Signed = 'mDL' | 'other' | 'statusList';

const DAYS: Readonly<Record<Signed, { lives: number; signs: number }>> = {
  mDL: { lives: 457, signs: 30 },
  other: { lives: 3650, signs: 30 },
  statusList: { lives: 457, signs: 427 },
};

/**
 * How long a certificate that begins at `from` lives: 457 days for driving licences, otherwise 3,650 days; it ends with its IACA at the latest.
 * It signs for 30 days, so that each document of 427 or 3,620 days ends before it. One of 3,650 days that ends with its IACA signs until then,
 * because no later one would live longer. That of a status list signer lives for 457 days and signs for 427 of them, or until its IACA ends.
 * @throws CertificateFault when the IACA is not valid at `from`
 */
export const documentSignerPeriod = (
  signed: Signed,
  from: Date,
  iaca: Pick<Certificate, 'notBefore' | 'notAfter'>,
): SignerPeriod => {
  const notBefore = new Date(Math.floor(from.getTime() / 1000) * 1000);
  if (notBefore < iaca.notBefore || notBefore >= iaca.notAfter)
    throw new CertificateFault(['notBefore must be within the validity of the IACA']);
  const within = (days: number) => new Date(Math.min(notBefore.getTime() + days * DAY_MS, iaca.notAfter.getTime()));
  const { lives, signs } = DAYS[signed];
  const notAfter = within(lives);
  const isLast = signed !== 'mDL' && notAfter.getTime() === iaca.notAfter.getTime();
  return { notBefore, notAfter, signsUntil: isLast ? notAfter : within(signs) };
};

export interface DocumentSignerFacts {
  /** DER of an IACA made by `createIaca`; its country, state, issuer alternative name and CRL distribution point are taken over. */
  iaca: Uint8Array;
  iacaKey: CertificateKey;
  publicKey: KeyObject;
  /** Default: documents. */
  signed?: Signed | undefined;
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
        ...usageExtensions(facts.signed),
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
  signed?: Signed,
): Promise<string> => {
  const subject = { ...readSubject(new X509Certificate(new Uint8Array(iaca)).subjectName)!, commonName };
  throwFaults(subjectFaults(subject));
  const request = await Pkcs10CertificateRequestGenerator.create(
    {
      name: subjectName(subject),
      keys: { publicKey: SIGNING_KEY, privateKey: SIGNING_KEY },
      signingAlgorithm: ECDSA_SHA256,
      extensions: usageExtensions(signed),
    },
    signingCrypto(key),
  );
  return request.toString('pem');
};

/**
 * Token Status List §10 defines the extended key usage id-kp-oauthStatusSigning, which has no object identifier yet (draft 21): a status list
 * signer has none, and cannot sign documents without that of document signers.
 */
const usageExtensions = (signed: Signed | undefined): Extension[] => [
  new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
  ...(signed === 'statusList' ? [] : [new ExtendedKeyUsageExtension([MDL_DOCUMENT_SIGNER], true)]),
];

/**
 * The certificate that a customer issued for a request.
 * @param publicKey of the request
 * @param signed default: documents
 * @throws CertificateFault with every rule that it breaks
 */
export const parseDocumentSigner = (
  pem: string,
  iacaDer: Uint8Array,
  publicKey: KeyObject,
  now: Date,
  signed?: Signed,
): Certificate => {
  const { x509, node, faults } = parseUploadedCertificate(pem);
  const iaca = parseDer(iacaDer);
  const [subject, authority] = [readSubject(x509.subjectName), readSubject(iaca.x509.subjectName)];
  const { notAfter } = x509;
  throwFaults([
    ...faults,
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
    signed === 'statusList'
      ? hasMdlUsage(x509) && `must not have the extended key usage ${MDL_DOCUMENT_SIGNER} of document signers`
      : !isMdlDocumentSigner(x509) && `must have the critical extended key usage ${MDL_DOCUMENT_SIGNER}`,
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
