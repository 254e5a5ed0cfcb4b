import 'reflect-metadata';
import { createHash, X509Certificate as NodeCertificate, type KeyObject } from 'node:crypto';
import {
  IssuerAlternativeNameExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  type GeneralNames,
} from '@peculiar/x509';
import { CertificateFault } from './certificate-fault.js';
import { readSubject, type CertificateSubject } from './subject.js';

/** A certificate with what is shown of it. */
export interface Certificate {
  der: Uint8Array;
  pem: string;
  /** SHA-256 of the DER, hex. */
  fingerprint: string;
  /** Hex, lower case. */
  serialNumber: string;
  /** Always given for an IACA and a document signer. */
  subject: CertificateSubject | undefined;
  notBefore: Date;
  notAfter: Date;
  publicKey: KeyObject;
  /** Hosts of its alternative names, of issuer and subject, in lower case. */
  hosts: readonly string[];
}

/** A certificate as both parsers see it. */
export interface ParsedCertificate {
  /** Names and extensions. */
  x509: X509Certificate;
  /** Signatures and keys. */
  node: NodeCertificate;
}

/** @throws CertificateFault when it is not one X.509 certificate in PEM */
export const parsePem = (pem: string): ParsedCertificate => parseCertificate(derOfPem(pem));

/** @throws CertificateFault when it is not one certificate in PEM */
export const derOfPem = (pem: string): Uint8Array => {
  const blocks = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g)];
  const [block] = blocks;
  if (blocks.length !== 1 || block![1] !== 'CERTIFICATE')
    throw new CertificateFault(['must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----']);
  return Buffer.from(block![2]!, 'base64');
};

/** @throws CertificateFault when it is no X.509 certificate */
export const parseCertificate = (der: Uint8Array): ParsedCertificate => {
  try {
    return parseDer(der);
  } catch (cause) {
    throw new CertificateFault(['must be an X.509 certificate: its content cannot be decoded'], { cause });
  }
};

export const parseDer = (der: Uint8Array): ParsedCertificate => {
  const node = new NodeCertificate(der);
  const x509 = new X509Certificate(new Uint8Array(node.raw));
  // Decoded on first use: a fault in them is found here.
  void [x509.extensions, x509.subjectName, x509.issuerName, x509.signatureAlgorithm, node.publicKey];
  return { x509, node };
};

export const readCertificate = (der: Uint8Array): Certificate => describeCertificate(parseDer(der));

export const describeCertificate = ({ x509, node }: ParsedCertificate): Certificate => ({
  der: new Uint8Array(node.raw),
  pem: node.toString(),
  fingerprint: createHash('sha256').update(node.raw).digest('hex'),
  serialNumber: x509.serialNumber,
  subject: readSubject(x509.subjectName),
  notBefore: x509.notBefore,
  notAfter: x509.notAfter,
  publicKey: node.publicKey,
  hosts: [
    ...new Set(
      [x509.getExtension(IssuerAlternativeNameExtension), x509.getExtension(SubjectAlternativeNameExtension)].flatMap(
        (extension) => hostsOf(extension?.names),
      ),
    ),
  ],
});

const hostsOf = (names: GeneralNames | undefined): string[] =>
  (names?.items ?? []).flatMap(({ type, value }) => {
    if (type === 'dns') return [value.toLowerCase()];
    if (type === 'email') return [value.slice(value.lastIndexOf('@') + 1).toLowerCase()];
    return (type === 'url' && URL.parse(value)?.hostname) || [];
  });
