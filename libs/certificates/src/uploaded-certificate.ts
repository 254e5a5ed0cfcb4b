import { derOfPem, parseCertificate, type ParsedCertificate } from './certificate.js';
import { CertificateFault } from './certificate-fault.js';
import { DER, DerFault, readDer, type DerValue } from './der.js';
import { checkExtensions } from './extension-limits.js';

type Faults = (string | false | undefined)[];

interface UploadedCertificate extends ParsedCertificate {
  /** The rules of RFC 5280 that it breaks, for `throwFaults`. */
  faults: Faults;
}

/**
 * A certificate that a tenant registers: it is published or trusted for years, so that it has to be one that every reader of RFC 5280 reads.
 * Certificates of requests are not held to these rules: nothing is kept of them.
 * @throws CertificateFault when it is not one certificate in PEM, is not DER, or has too many extensions
 */
export const parseUploadedCertificate = (pem: string): UploadedCertificate => {
  const der = derOfPem(pem);
  const parsed = parseCertificate(der);
  checkExtensions(parsed.x509);
  return { ...parsed, faults: profileFaults(readStrictly(der), parsed) };
};

const strictly = <T>(read: () => T, what = ''): T => {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof DerFault)) throw cause;
    throw new CertificateFault([`must be encoded in DER: ${what}${cause.message}`], { cause });
  }
};

/** The members of TBSCertificate that have rules here, RFC 5280 §4.1. */
interface Fields {
  version: DerValue | undefined;
  serialNumber: DerValue;
  signature: DerValue;
  issuer: DerValue;
  validity: DerValue;
  subject: DerValue;
  publicKey: DerValue;
  extensions: readonly { id: string; value: DerValue }[];
  /** The list of extensions is present without any. */
  hasEmptyList: boolean;
  /** Beside `signature`. */
  signatureAlgorithm: DerValue;
}

const readStrictly = (der: Uint8Array): Fields => {
  const certificate = strictly(() => readDer(der));
  const [tbs, signatureAlgorithm] = certificate.children as [DerValue, DerValue];
  const isTagged = (tag: number) => (value: DerValue) => value.tag === tag;
  const version = tbs.children.find(isTagged(VERSION))?.children[0];
  const [serialNumber, signature, issuer, validity, subject, publicKey] = tbs.children.filter(
    ({ tag }) => (tag & 0xc0) === 0,
  ) as [DerValue, DerValue, DerValue, DerValue, DerValue, DerValue];
  const list = tbs.children.find(isTagged(EXTENSIONS))?.children[0];
  const extensions = (list?.children ?? []).map(readExtension);
  const fields = { serialNumber, signature, issuer, validity, subject, publicKey };
  return { version, ...fields, extensions, hasEmptyList: list?.children.length === 0, signatureAlgorithm };
};

/** Context tags of TBSCertificate. */
const [VERSION, EXTENSIONS] = [0xa0, 0xa3];

const readExtension = ({ children }: DerValue): Fields['extensions'][number] => {
  const id = oidOf(children[0]!);
  const critical = children.find(({ tag }) => tag === DER.boolean);
  const value = strictly(() => {
    if (critical?.content[0] === 0) throw new DerFault('critical FALSE is the default, which is left out');
    const value = readDer(children.at(-1)!.content);
    const fault = extensionFault(id, value);
    if (fault) throw new DerFault(fault);
    return value;
  }, `extension ${id}: `);
  return { id, value };
};

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const SUBJECT_KEY_IDENTIFIER = '2.5.29.14';
/** Extensions whose value is a list of at least one, or of members of which at least one is there (RFC 5280 §4.2). */
const NOT_EMPTY: readonly string[] = [
  '2.5.29.9', // subject directory attributes
  '2.5.29.17', // subject alternative name
  '2.5.29.18', // issuer alternative name
  '2.5.29.30', // name constraints
  '2.5.29.31', // CRL distribution points
  '2.5.29.32', // certificate policies
  '2.5.29.33', // policy mappings
  '2.5.29.36', // policy constraints
  '2.5.29.37', // extended key usage
  '2.5.29.46', // freshest CRL
  '1.3.6.1.5.5.7.1.1', // authority information access
  '1.3.6.1.5.5.7.1.11', // subject information access
];

/** Violation of DER by the value, according to its schema. */
const extensionFault = (id: string, { tag, content, children }: DerValue): string | false => {
  if (NOT_EMPTY.includes(id)) return tag === DER.sequence && children.length === 0 && 'it is an empty list';
  if (id === BASIC_CONSTRAINTS)
    return (
      children.some((child) => child.tag === DER.boolean && child.content[0] === 0) &&
      'cA FALSE is the default, which is left out'
    );
  // A list of named bits ends with one that is set (X.690 §11.2.2), and one is (RFC 5280 §4.2.1.3).
  if (id === KEY_USAGE && tag === DER.bitString)
    return (
      (content.length < 2 || (content.at(-1)! & (1 << content[0]!)) === 0) &&
      'the named bits end with one that is not set'
    );
  return false;
};

const MAX_SERIAL_NUMBER_OCTETS = 20;

const profileFaults = (fields: Fields, { x509 }: ParsedCertificate): Faults => {
  const { version, serialNumber, issuer, subject, validity, extensions, signature, signatureAlgorithm } = fields;
  const ids = extensions.map(({ id }) => id);
  const valueOf = (id: string) => extensions.find((extension) => extension.id === id)?.value;
  const [isNegative, isZero] = [serialNumber.content[0]! >= 0x80, serialNumber.content.every((octet) => octet === 0)];
  return [
    version?.content[0] !== 2 && 'must be of version 3 (RFC 5280 §4.1.2.1)',
    (isNegative || isZero) && 'must have a positive serial number (RFC 5280 §4.1.2.2)',
    serialNumber.content.length > MAX_SERIAL_NUMBER_OCTETS &&
      `must have a serial number of at most ${MAX_SERIAL_NUMBER_OCTETS} octets`,
    !(isTime(validity.children[0], x509.notBefore) && isTime(validity.children[1], x509.notAfter)) &&
      'must have valid times, up to 2049 as UTCTime and from 2050 on as GeneralizedTime (RFC 5280 §4.1.2.5)',
    (issuer.children.length === 0 || subject.children.length === 0) &&
      'must have an issuer and a subject that are not empty',
    !isSame(signature, signatureAlgorithm) && 'must name the same signature algorithm twice (RFC 5280 §4.1.1.2)',
    hasForbiddenParameters(signature) && 'must have no parameters in its signature algorithm (RFC 5758 §3.2)',
    hasExplicitCurve(fields.publicKey) && 'must name the curve of its key (RFC 5480 §2.1.1)',
    fields.hasEmptyList && 'must not have an empty list of extensions',
    ...[...new Set(ids.filter((id, at) => ids.indexOf(id) < at))].map(
      (id) => `must not have the extension ${id} twice`,
    ),
    valueOf(SUBJECT_KEY_IDENTIFIER)?.content.length === 0 && 'must have a subject key identifier that is not empty',
    valueOf(BASIC_CONSTRAINTS)?.children.some(({ tag, content }) => tag === DER.integer && content[0]! >= 0x80) &&
      'must not have a negative path length',
  ];
};

/** Whether a time is encoded as RFC 5280 §4.1.2.5 demands, which also finds the 31st of February. */
const isTime = (encoded: DerValue | undefined, time: Date): boolean => {
  if (Number.isNaN(time.getTime())) return false;
  const text = `${time.toISOString().replaceAll(/[-:T]|\.\d+|Z/g, '')}Z`;
  const [tag, wanted] = text < '2050' ? [DER.utcTime, text.slice(2)] : [DER.generalizedTime, text];
  return encoded?.tag === tag && Buffer.from(encoded.content).toString('latin1') === wanted;
};

const isSame = (a: DerValue, b: DerValue): boolean => Buffer.compare(a.content, b.content) === 0;

/** ECDSA and EdDSA have no parameters (RFC 8410 §3). */
const hasForbiddenParameters = ({ children }: DerValue): boolean =>
  children.length > 1 && /^1\.2\.840\.10045\.4\.|^1\.3\.101\./.test(oidOf(children[0]!));

const hasExplicitCurve = ({ children: [algorithm] }: DerValue): boolean =>
  oidOf(algorithm!.children[0]!) === '1.2.840.10045.2.1' && algorithm!.children[1]?.tag !== DER.oid;

/** X.690 §8.19. */
const oidOf = ({ content }: DerValue): string => {
  const arcs: bigint[] = [];
  let arc = 0n;
  for (const octet of content) {
    arc = (arc << 7n) | BigInt(octet & 0x7f);
    if (octet & 0x80) continue;
    arcs.push(arc);
    arc = 0n;
  }
  const [first = 0n, ...others] = arcs;
  const top = first < 80n ? first / 40n : 2n;
  return [top, first - top * 40n, ...others].join('.');
};
