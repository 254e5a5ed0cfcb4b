import 'reflect-metadata';
import { AsnConvert, OctetString } from '@peculiar/asn1-schema';
import {
  AlgorithmIdentifier,
  CertificateList,
  CRLReason,
  CRLReasons,
  Extension as AsnExtension,
  id_ce_cRLReasons,
  Name,
  RevokedCertificate as AsnRevokedCertificate,
  TBSCertList,
  Time,
  Version,
} from '@peculiar/asn1-x509';
import {
  AsnEcSignatureFormatter,
  AuthorityKeyIdentifierExtension,
  Extension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509Crl,
  type X509CrlReason,
} from '@peculiar/x509';
import { CertificateFault, throwFaults } from './certificate-fault.js';
import { checkExtensions } from './extension-limits.js';
import { ECDSA_SHA256, ECDSA_WITH_SHA256, type CertificateKey } from './certificate-key.js';
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

/**
 * A CRL of version 2 in DER, ISO/IEC 18013-5 Annex B and RFC 5280 §5. The generator of @peculiar/x509 gives an entry without a reason an empty
 * list of extensions, which `SIZE (1..MAX)` of RFC 5280 A.1 forbids: a strict decoder then reads none of the list.
 */
export const createRevocationList = async (facts: RevocationListFacts): Promise<Uint8Array> => {
  const iaca = new X509Certificate(new Uint8Array(facts.iaca));
  const signatureAlgorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const tbsCertList = new TBSCertList({
    version: Version.v2,
    signature: signatureAlgorithm,
    issuer: AsnConvert.parse(iaca.subjectName.toArrayBuffer(), Name),
    thisUpdate: timeOf(facts.thisUpdate),
    nextUpdate: timeOf(facts.nextUpdate),
    ...(facts.revoked.length > 0 && { revokedCertificates: facts.revoked.map(entryOf) }),
    crlExtensions: [
      new AuthorityKeyIdentifierExtension(iaca.getExtension(SubjectKeyIdentifierExtension)!.keyId),
      new Extension(CRL_NUMBER, false, integerOf(facts.number)),
    ].map(({ rawData }) => AsnConvert.parse(rawData, AsnExtension)),
  });
  const raw = await facts.iacaKey.signAside(new Uint8Array(AsnConvert.serialize(tbsCertList)));
  const signature = new AsnEcSignatureFormatter().toAsnSignature(ECDSA_SHA256, raw)!;
  return new Uint8Array(AsnConvert.serialize(new CertificateList({ tbsCertList, signatureAlgorithm, signature })));
};

const entryOf = ({ serialNumber, revokedAt, reason }: RevokedCertificate): AsnRevokedCertificate =>
  new AsnRevokedCertificate({
    userCertificate: contentOf(BigInt(`0x${serialNumber}`)).buffer,
    revocationDate: timeOf(revokedAt),
    ...(reason && {
      crlEntryExtensions: [
        new AsnExtension({
          extnID: id_ce_cRLReasons,
          extnValue: new OctetString(AsnConvert.serialize(new CRLReason(CRLReasons[reason]))),
        }),
      ],
    }),
  });

/** In whole seconds, also from 2050 on (RFC 5280 §5.1.2.4). */
const timeOf = (time: Date): Time => new Time(new Date(Math.floor(time.getTime() / 1000) * 1000));

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

/** Hex, lower case. The list was parsed before. */
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

/** Content of the DER of an INTEGER that is not negative. */
const contentOf = (value: bigint): Uint8Array<ArrayBuffer> => {
  const hex = value.toString(16);
  const octets = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex');
  // A leading one bit would make it negative.
  return Uint8Array.from(octets[0]! & 0x80 ? [0, ...octets] : octets);
};

const integerOf = (value: bigint): Uint8Array<ArrayBuffer> => {
  const content = contentOf(value);
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
