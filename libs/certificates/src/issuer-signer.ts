import 'reflect-metadata';
import type { KeyObject } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  Name,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { readCertificate, type Certificate } from './certificate.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, spkiOf, type CertificateKey } from './certificate-key.js';
import { createRoot, type RootFacts } from './root.js';
import { serialNumber } from './serial-number.js';

export interface IssuerAuthorityFacts extends RootFacts {
  /** Host of the tenant; the name is cut to 64 characters (RFC 5280 Appendix A.1, ub-common-name). */
  commonName: string;
}

/** The root of a tenant's issuer signers. It is not an IACA: it has no country, and it publishes no CRL. */
export const createIssuerAuthority = (facts: IssuerAuthorityFacts): Promise<Certificate> =>
  createRoot(facts, nameOf(facts.commonName), []);

export interface IssuerSignerFacts {
  /** DER of a certificate made by `createIssuerAuthority`. */
  authority: Uint8Array;
  authorityKey: CertificateKey;
  publicKey: KeyObject;
  /** Credential issuer identifier: `iss` of the credentials and the subject alternative name. */
  issuerUrl: string;
  notBefore: Date;
  notAfter: Date;
  /** Random bytes. */
  random: (length: number) => Uint8Array;
}

/**
 * The certificate of a key that signs credentials of an issuer (SD-JWT VC, X.509 Certificate; HAIP 1.0 §6.1.1). RFC 5280 §4.2.1.9 asks for basic
 * constraints in certificates of CAs only, and in others they are an empty sequence, which some readers cannot read.
 */
export const createIssuerSigner = async (facts: IssuerSignerFacts): Promise<Certificate> => {
  const { issuerUrl, notBefore, notAfter } = facts;
  const authority = new X509Certificate(new Uint8Array(facts.authority));
  const publicKey = new PublicKey(spkiOf(facts.publicKey));
  const { rawData } = await X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(facts.random),
      subject: nameOf(new URL(issuerUrl).host),
      issuer: authority.subjectName,
      notBefore,
      notAfter,
      publicKey,
      signingKey: SIGNING_KEY,
      signingAlgorithm: ECDSA_SHA256,
      extensions: [
        new AuthorityKeyIdentifierExtension(authority.getExtension(SubjectKeyIdentifierExtension)!.keyId),
        await SubjectKeyIdentifierExtension.create(publicKey),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new SubjectAlternativeNameExtension([{ type: 'url', value: issuerUrl }]),
      ],
    },
    signingCrypto(facts.authorityKey),
  );
  return readCertificate(new Uint8Array(rawData));
};

const nameOf = (commonName: string): Name => new Name([{ CN: [{ printableString: commonName.slice(0, 64) }] }]);
