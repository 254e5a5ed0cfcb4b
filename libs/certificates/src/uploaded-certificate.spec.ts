import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { verifyCertificateChain, readTrustAnchor } from './certificate-chain.js';
import { CertificateFault } from './certificate-fault.js';
import { parseDocumentSigner } from './document-signer.js';
import { parseIaca } from './iaca.js';
import { parseTrustAnchor } from './trust-anchor.js';

const NOW = new Date('2026-06-01T00:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const signerKeys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

// DER and BER, written by hand: no library makes what is refused here.
const lengthOf = (length: number) =>
  length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
const tlv = (tag: number, ...content: Uint8Array[]): Buffer => {
  const value = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag, ...lengthOf(value.length)]), value]);
};
const hex = (text: string) => Buffer.from(text, 'hex');
const seq = (...content: Uint8Array[]) => tlv(0x30, ...content);
const text = (tag: number, value: string) => tlv(tag, Buffer.from(value, 'latin1'));
const oid = (dotted: string): Buffer => {
  const [first, second, ...others] = dotted.split('.').map(Number) as [number, number, ...number[]];
  const arcs = [first * 40 + second, ...others].map((arc) => {
    const octets = [arc % 128];
    for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift(128 + (rest % 128));
    return Buffer.from(octets);
  });
  return tlv(6, ...arcs);
};
const nameOf = (commonName: string, country = 'AU') =>
  seq(tlv(0x31, seq(oid('2.5.4.6'), text(0x13, country))), tlv(0x31, seq(oid('2.5.4.3'), text(0x13, commonName))));
const TRUE = hex('0101ff');
const extension = (id: string, value: Uint8Array, critical?: Uint8Array): Buffer =>
  seq(oid(id), ...(critical ? [critical] : []), tlv(4, value));
const url = (address: string) => text(0x86, address);

const EXTENSIONS = {
  basicConstraints: extension('2.5.29.19', hex('30060101ff020100'), TRUE),
  keyUsage: extension('2.5.29.15', hex('03020106'), TRUE),
  keyIdentifier: extension('2.5.29.14', tlv(4, Buffer.alloc(20, 7))),
  alternativeName: extension('2.5.29.18', seq(url('https://customer.example'))),
  distributionPoints: extension('2.5.29.31', seq(seq(tlv(0xa0, tlv(0xa0, url('https://customer.example/crl')))))),
};
const SIGNER_EXTENSIONS = {
  ...EXTENSIONS,
  authorityKey: extension('2.5.29.35', seq(tlv(0x80, Buffer.alloc(20, 7)))),
  keyIdentifier: extension('2.5.29.14', tlv(4, Buffer.alloc(20, 8))),
  keyUsage: extension('2.5.29.15', hex('03020780'), TRUE),
  purpose: extension('2.5.29.37', seq(oid('1.0.18013.5.1.2')), TRUE),
  basicConstraints: Buffer.alloc(0),
};
const ECDSA_SHA256 = seq(oid('1.2.840.10045.4.3.2'));

interface Parts {
  version?: Uint8Array;
  serial?: Uint8Array;
  algorithm?: Uint8Array;
  outerAlgorithm?: Uint8Array;
  issuer?: Uint8Array;
  subject?: Uint8Array;
  notBefore?: Uint8Array;
  notAfter?: Uint8Array;
  key?: KeyObject;
  spki?: Uint8Array;
  /** In place of those of an IACA, by name. */
  extensions?: Record<string, Uint8Array>;
  /** Applied to the whole DER. */
  change?: (der: Buffer) => Buffer;
}
const IACA = nameOf('Customer IACA');
const certificateOf = (parts: Parts = {}, base: Record<string, Uint8Array> = EXTENSIONS): string => {
  const algorithm = parts.algorithm ?? ECDSA_SHA256;
  const subject = parts.subject ?? IACA;
  const extensions = Object.values({ ...base, ...parts.extensions });
  const tbs = seq(
    parts.version ?? hex('a003020102'),
    parts.serial ?? hex('020140'),
    algorithm,
    parts.issuer ?? subject,
    seq(parts.notBefore ?? text(0x17, '260101000000Z'), parts.notAfter ?? text(0x17, '360101000000Z')),
    subject,
    parts.spki ?? (parts.key ?? publicKey).export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [tlv(0xa3, seq(...extensions))] : []),
  );
  const signature = tlv(3, hex('00'), sign('sha256', tbs, privateKey));
  const der = seq(tbs, parts.outerAlgorithm ?? algorithm, signature);
  return pemOf((parts.change ?? ((it) => it))(der));
};
const pemOf = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
const derOf = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
const signerOf = (parts: Parts = {}): string =>
  certificateOf({ issuer: IACA, subject: nameOf('Signer 1'), key: signerKeys.publicKey, ...parts }, SIGNER_EXTENSIONS);

const faultsOf = (parse: () => unknown): readonly string[] => {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof CertificateFault) return error.faults;
    throw error;
  }
};
const iacaFaults = (parts?: Parts) => faultsOf(() => parseIaca(certificateOf(parts), NOW));
const signerFaults = (parts?: Parts) =>
  faultsOf(() => parseDocumentSigner(signerOf(parts), derOf(certificateOf()), signerKeys.publicKey, NOW));
const anchorFaults = (parts?: Parts) => faultsOf(() => parseTrustAnchor(certificateOf(parts), NOW));

const NO_CONTENT = 'must be an X.509 certificate: its content cannot be decoded';
const VERSION = 'must be of version 3 (RFC 5280 §4.1.2.1)';
const SERIAL = 'must have a positive serial number (RFC 5280 §4.1.2.2)';
const TIMES = 'must have valid times, up to 2049 as UTCTime and from 2050 on as GeneralizedTime (RFC 5280 §4.1.2.5)';
const PARAMETERS = 'must have no parameters in its signature algorithm (RFC 5758 §3.2)';
const der = (fault: string) => `must be encoded in DER: ${fault}`;
/** Inserts bytes behind the outer header, which has the long form with two octets. */
const outerLength = (length: (content: Buffer) => Buffer) => (whole: Buffer) =>
  Buffer.concat([hex('30'), length(whole.subarray(4)), whole.subarray(4)]);

describe('a registered certificate', () => {
  it('made by hand is accepted as IACA, document signer and root', () => {
    expect([iacaFaults(), signerFaults(), anchorFaults()]).toEqual([[], [], []]);
  });

  it.each<[string, Parts, string]>([
    ['of version 2', { version: hex('a003020101') }, VERSION],
    ['of version 1, encoded', { version: hex('a003020100') }, VERSION],
    ['of version 1', { version: hex('') }, VERSION],
    ['of version 4', { version: hex('a003020103') }, VERSION],
    ['with a serial number of 0', { serial: hex('020100') }, SERIAL],
    ['with a negative serial number', { serial: hex('020180') }, SERIAL],
    [
      'with a serial number of 21 octets',
      { serial: tlv(2, Buffer.alloc(21, 0x40)) },
      'must have a serial number of at most 20 octets',
    ],
    ['with a padded serial number', { serial: hex('02020040') }, NO_CONTENT],
    ['with a GeneralizedTime of 2036', { notAfter: text(0x18, '20360101000000Z') }, TIMES],
    ['with a GeneralizedTime of 2026', { notBefore: text(0x18, '20260101000000Z') }, TIMES],
    ['without seconds', { notBefore: text(0x17, '2601010000Z') }, NO_CONTENT],
    ['with an offset', { notBefore: text(0x17, '260101000000+0000') }, der('a UTCTime is not YYMMDDHHMMSSZ')],
    ['with a 13th month', { notBefore: text(0x17, '251301000000Z') }, TIMES],
    ['with the 31st of February', { notBefore: text(0x17, '260231000000Z') }, TIMES],
    [
      'with an extension twice',
      { extensions: { again: EXTENSIONS.keyUsage } },
      'must not have the extension 2.5.29.15 twice',
    ],
    [
      'with an unknown extension three times',
      {
        extensions: {
          a: extension('1.2.3.4', hex('0500')),
          b: extension('1.2.3.4', hex('0500')),
          c: extension('1.2.3.4', hex('0500')),
        },
      },
      'must not have the extension 1.2.3.4 twice',
    ],
    ['with NULL parameters', { algorithm: seq(oid('1.2.840.10045.4.3.2'), hex('0500')) }, PARAMETERS],
    [
      'with a BOOLEAN of 01',
      { extensions: { keyIdentifier: extension('2.5.29.14', tlv(4, Buffer.alloc(20, 7)), hex('010101')) } },
      der('a BOOLEAN is not 00 or FF'),
    ],
    [
      'with critical FALSE',
      { extensions: { extra: extension('1.2.3.4', hex('0500'), hex('010100')) } },
      der('extension 1.2.3.4: critical FALSE is the default, which is left out'),
    ],
    [
      'with trailing zero bits in its key usage',
      { extensions: { keyUsage: extension('2.5.29.15', hex('03020006'), TRUE) } },
      der('extension 2.5.29.15: the named bits end with one that is not set'),
    ],
    [
      'with an empty key usage',
      { extensions: { keyUsage: extension('2.5.29.15', hex('030100'), TRUE) } },
      der('extension 2.5.29.15: the named bits end with one that is not set'),
    ],
    [
      'with an empty subject key identifier',
      { extensions: { keyIdentifier: extension('2.5.29.14', hex('0400')) } },
      'must have a subject key identifier that is not empty',
    ],
    [
      'with an empty list of extended key usages',
      { extensions: { purpose: extension('2.5.29.37', hex('3000')) } },
      der('extension 2.5.29.37: it is an empty list'),
    ],
    [
      'with an extension that is no DER',
      { extensions: { extra: extension('1.2.3.4', hex('050100')) } },
      der('extension 1.2.3.4: a NULL is not empty'),
    ],
    [
      'with a longer length than necessary',
      { change: outerLength((it) => Buffer.concat([hex('8300'), lengthBytes(it)])) },
      der('a length is longer than necessary'),
    ],
    [
      'with an indefinite length',
      { change: (it) => Buffer.concat([hex('3080'), it.subarray(4), hex('0000')]) },
      der('a length is indefinite'),
    ],
    ['with bytes after it', { change: (it) => Buffer.concat([it, hex('00')]) }, der('bytes follow the value')],
    ['with another certificate after it', { change: (it) => Buffer.concat([it, it]) }, der('bytes follow the value')],
    [
      'with the members of a name in another order',
      {
        subject: seq(tlv(0x31, seq(oid('2.5.4.3'), text(0x13, 'Customer')), seq(oid('2.5.4.6'), text(0x13, 'AU')))),
      },
      der('a SET is not in ascending order'),
    ],
  ])('is refused %s, as IACA, document signer and root [T781]', (_, parts, fault) => {
    expect(iacaFaults(parts)).toContain(fault);
    expect(anchorFaults(parts)).toContain(fault);
    expect(signerFaults(parts)).toContain(fault);
  });

  it('has the faults of a malformed one named alone, where nothing else can be read', () => {
    expect(iacaFaults({ change: (it) => it.subarray(0, -1) })).toEqual([NO_CONTENT]);
    expect(iacaFaults({ change: (it) => Buffer.concat([it, hex('00')]) })).toEqual([der('bytes follow the value')]);
    expect(iacaFaults({ version: hex('a003020101'), serial: hex('020100') })).toEqual([VERSION, SERIAL]);
  });

  it('that ends after 2049 has a GeneralizedTime there', () => {
    const notBefore = text(0x17, '350101000000Z');
    const at = new Date('2040-01-01');
    const faults = (notAfter: Uint8Array) => faultsOf(() => parseIaca(certificateOf({ notBefore, notAfter }), at));
    expect(faults(text(0x18, '20500101000000Z'))).toEqual([]);
    expect(faults(text(0x18, '20500101000000.5Z'))).toContain(TIMES);
    expect(faults(text(0x18, '20491231235959Z'))).toContain(TIMES);
    expect(faults(text(0x17, '491231235959Z'))).toEqual([]);
  });

  it('names its signature algorithm twice and the curve of its key [T781]', () => {
    const other = seq(oid('1.2.840.10045.4.3.3'));
    expect(anchorFaults({ outerAlgorithm: other })).toContain(
      'must name the same signature algorithm twice (RFC 5280 §4.1.1.2)',
    );
    const explicit = generateKeyPairSync('ec', { namedCurve: 'P-256', paramEncoding: 'explicit' }).publicKey;
    for (const faults of [anchorFaults({ key: explicit }), iacaFaults({ key: explicit })])
      expect(faults).toContain('must name the curve of its key (RFC 5480 §2.1.1)');
  });

  it('may be signed with RSA where it is a root, whose parameters are NULL', () => {
    expect(anchorFaults({ algorithm: seq(oid('1.2.840.113549.1.1.11'), hex('0500')) })).toEqual([]);
  });
});

describe('an IACA', () => {
  it.each([true, false])('is refused with an extended key usage, critical: %s [T781]', (isCritical) => {
    const purpose = extension('2.5.29.37', seq(oid('1.3.6.1.5.5.7.3.1')), isCritical ? TRUE : undefined);
    expect(iacaFaults({ extensions: { purpose } })).toEqual(['must not have an extended key usage']);
    expect(anchorFaults({ extensions: { purpose } })).toEqual([]);
  });
});

describe('a root', () => {
  it.each<[string, Parts, string]>([
    [
      'without keyCertSign',
      { extensions: { keyUsage: extension('2.5.29.15', hex('03020780'), TRUE) } },
      'must have the key usage keyCertSign',
    ],
    [
      'with an unknown critical extension',
      { extensions: { extra: extension('1.2.3.4', hex('0500'), TRUE) } },
      'must not have the critical extension 1.2.3.4',
    ],
    [
      'with critical name constraints',
      { extensions: { extra: extension('2.5.29.30', seq(tlv(0xa0, seq(text(0x82, 'a.example')))), TRUE) } },
      'must not have the critical extension 2.5.29.30',
    ],
    [
      'with critical policy constraints',
      { extensions: { extra: extension('2.5.29.36', seq(hex('800100')), TRUE) } },
      'must not have the critical extension 2.5.29.36',
    ],
    [
      'with a negative path length',
      { extensions: { basicConstraints: extension('2.5.29.19', hex('30060101ff0201ff'), TRUE) } },
      'must not have a negative path length',
    ],
    ['that ends before it begins', { notBefore: text(0x17, '370101000000Z') }, 'notAfter must be later than notBefore'],
    [
      'that is no CA',
      { extensions: { basicConstraints: extension('2.5.29.19', hex('3000'), TRUE) } },
      'must be the certificate of a CA (basic constraints)',
    ],
    [
      'with cA FALSE',
      { extensions: { basicConstraints: extension('2.5.29.19', hex('3003010100'), TRUE) } },
      der('extension 2.5.29.19: cA FALSE is the default, which is left out'),
    ],
    [
      'without extensions',
      { extensions: Object.fromEntries(Object.keys(EXTENSIONS).map((name) => [name, Buffer.alloc(0)])) },
      'must not have an empty list of extensions',
    ],
    ['without names', { subject: seq() }, 'must have an issuer and a subject that are not empty'],
    [
      'with name constraints that OpenSSL cannot read',
      { extensions: { extra: extension('2.5.29.30', hex('0500')) } },
      'must have extensions that OpenSSL can read',
    ],
  ])('%s is refused, as no chain can lead to it or no verifier reads it [T782]', (_, parts, fault) => {
    expect(anchorFaults(parts)).toContain(fault);
  });

  it('that begins later is accepted, and a chain leads to it from then on [T782]', () => {
    const pem = certificateOf({ notBefore: text(0x17, '270101000000Z') });
    const parsed = parseTrustAnchor(pem, NOW);
    const leaf = derOf(signerOf({ notBefore: text(0x17, '270101000000Z') })).toString('base64');
    const verifyAt = (time: string) => verifyCertificateChain([leaf], [readTrustAnchor(parsed.pem)], new Date(time));
    expect(faultsOf(() => verifyAt('2026-12-31T00:00:00Z'))).toHaveLength(1);
    expect(verifyAt('2027-01-01T00:00:00Z').x509.subject).toContain('Signer 1');
  });
});

const lengthBytes = (content: Buffer): Buffer => Buffer.from([content.length >> 8, content.length & 0xff]);
