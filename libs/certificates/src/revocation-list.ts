import 'reflect-metadata';
import {
  AuthorityKeyIdentifierExtension,
  Extension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509Crl,
  X509CrlGenerator,
  X509CrlReason,
} from '@peculiar/x509';
import { CertificateFault, throwFaults } from './certificate-fault.js';
import { checkExtensions } from './extension-limits.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, type CertificateKey } from './certificate-key.js';
import { isEcdsaSignature } from './profile.js';
import { isSameName } from './subject.js';

/** RFC 5280 §5.3.1, without `unspecified`, which is expressed by its absence, and `removeFromCRL`, which only delta CRLs have. */
export type RevocationReason = Exclude<keyof typeof X509CrlReason, 'unspecified' | 'removeFromCRL'>;

export interface RevokedCertificate {
  /** Hex */
  serialNumber: string;
  revokedAt: Date;
  reason?: RevocationReason;
}

export interface RevocationListFacts {
  /** DER */
  iaca: Uint8Array;
  iacaKey: CertificateKey;
  /** Larger than that of every earlier list of this IACA, RFC 5280 §5.2.3. */
  number: bigint;
  thisUpdate: Date;
  nextUpdate: Date;
  revoked: readonly RevokedCertificate[];
}

const CRL_NUMBER = '2.5.29.20';
/** RFC 5280 §5.2.3 allows at most 20 octets. */
const MAX_NUMBER_OCTETS = 20;
const MAX_NUMBER = 2n ** BigInt(8 * MAX_NUMBER_OCTETS - 1) - 1n;
const PEM_BEGIN = '-----BEGIN X509 CRL-----';
const PEM_END = '-----END X509 CRL-----';

/** A CRL of version 2 in DER, ISO/IEC 18013-5 Annex B and RFC 5280 §5. */
export const createRevocationList = async (facts: RevocationListFacts): Promise<Uint8Array> => {
  const iaca = new X509Certificate(new Uint8Array(facts.iaca));
  const { rawData } = await X509CrlGenerator.create(
    {
      issuer: iaca.subjectName,
      thisUpdate: facts.thisUpdate,
      nextUpdate: facts.nextUpdate,
      signingKey: SIGNING_KEY,
      signingAlgorithm: ECDSA_SHA256,
      extensions: [
        new AuthorityKeyIdentifierExtension(iaca.getExtension(SubjectKeyIdentifierExtension)!.keyId),
        new Extension(CRL_NUMBER, false, encodeInteger(facts.number)),
      ],
      entries: facts.revoked.map(({ serialNumber, revokedAt, reason }) => ({
        serialNumber,
        revocationDate: revokedAt,
        ...(reason && { reason: X509CrlReason[reason] }),
      })),
    },
    signingCrypto(facts.iacaKey),
  );
  return new Uint8Array(rawData);
};

export interface RevocationList {
  der: Uint8Array;
  number: bigint;
  thisUpdate: Date;
  nextUpdate: Date;
  /** Hex, lower case. */
  revokedSerialNumbers: readonly string[];
}

/**
 * A CRL that a customer signed.
 * @param crl DER or PEM
 * @param iacaDer the certificate of the customer's IACA
 * @param previousNumber of the list that it replaces
 * @throws CertificateFault with every rule that it breaks
 */
export const parseRevocationList = async (
  crl: Uint8Array | string,
  iacaDer: Uint8Array,
  previousNumber: bigint | undefined,
  now: Date,
): Promise<RevocationList> => {
  const list = decode(crl);
  checkExtensions(list);
  const iaca = new X509Certificate(new Uint8Array(iacaDer));
  const number = readNumber(list);
  const { thisUpdate, nextUpdate } = list;
  const isIssued =
    isSameName(list.issuerName, iaca.subjectName) && isEcdsaSignature(list) && (await isSignedBy(list, iaca));
  const critical = list.extensions.filter(({ critical }) => critical);
  throwFaults([
    !isIssued && 'must be signed by the IACA with ECDSA and SHA-256, SHA-384 or SHA-512',
    numberFault(number, previousNumber),
    thisUpdate > now && 'must have a time thisUpdate that is not in the future',
    (nextUpdate === undefined || nextUpdate <= now) && 'must have a time nextUpdate in the future',
    ...critical.map(({ type }) => `must not have the critical extension ${type}: only complete lists are supported`),
  ]);
  return {
    der: new Uint8Array(list.rawData),
    number: number!,
    thisUpdate,
    nextUpdate: nextUpdate!,
    revokedSerialNumbers: list.entries.map(({ serialNumber }) => serialNumber),
  };
};

const isSignedBy = async (list: X509Crl, iaca: X509Certificate): Promise<boolean> => {
  try {
    return await list.verify({ publicKey: iaca });
  } catch {
    // A signature that no key of this curve makes.
    return false;
  }
};

/** Of a list that was parsed before; hex, lower case. */
export const revokedSerialNumbers = (crlDer: Uint8Array): string[] =>
  new X509Crl(new Uint8Array(crlDer)).entries.map(({ serialNumber }) => serialNumber);

const decode = (crl: Uint8Array | string): X509Crl => {
  try {
    const list = new X509Crl(new Uint8Array(typeof crl === 'string' ? derOfPem(crl) : crl));
    // Decoded on first use: a fault in them is found here.
    void [list.extensions, list.entries, list.issuerName];
    return list;
  } catch (cause) {
    throw new CertificateFault(['must be an X.509 CRL in DER or PEM'], { cause });
  }
};

/** In linear time, which the library's own search for PEM does not take. @throws Error without one block */
const derOfPem = (pem: string): Uint8Array => {
  const begin = pem.indexOf(PEM_BEGIN);
  const end = pem.indexOf(PEM_END, begin);
  const base64 = pem.slice(begin + PEM_BEGIN.length, end);
  if (begin < 0 || end < 0 || !/^[A-Za-z0-9+/=\s]*$/.test(base64)) throw new Error('no CRL in PEM');
  return Buffer.from(base64, 'base64');
};

/** DER of a positive INTEGER. */
const encodeInteger = (value: bigint): Uint8Array<ArrayBuffer> => {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  // A leading one bit would make it negative.
  const content = octets[0]! & 0x80 ? [0, ...octets] : [...octets];
  return Uint8Array.of(0x02, content.length, ...content);
};

const numberFault = (number: bigint | undefined, previous: bigint | undefined): string | false => {
  if (number === undefined) return 'must have a CRL number';
  if (number < 0n || number > MAX_NUMBER) return 'must have a CRL number from 0 to 2^159 - 1';
  if (previous === undefined || number > previous) return false;
  return previous === MAX_NUMBER
    ? 'must not replace the list with the largest CRL number, 2^159 - 1: register another IACA, or delete this one and register it again'
    : `must have a CRL number larger than ${previous}, that of the list it replaces`;
};

const readNumber = (list: X509Crl): bigint | undefined => {
  const value = list.getExtension(CRL_NUMBER)?.value;
  if (value === undefined) return undefined;
  const [tag, length, ...content] = new Uint8Array(value);
  // In the short form of the length, which is that of up to 127 octets.
  if (tag !== 0x02 || length !== content.length || length === 0 || length > 127) return undefined;
  return BigInt.asIntN(8 * length, BigInt(`0x${Buffer.from(content).toString('hex')}`));
};
