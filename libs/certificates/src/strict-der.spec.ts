import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import fc from 'fast-check';
import type { CertificateKey } from './certificate-key.js';
import { DER, DerFault, readDer, type DerValue } from './der.js';
import { createDocumentSigner, createDocumentSignerRequest } from './document-signer.js';
import { createIaca } from './iaca.js';
import { createIssuerAuthority, createIssuerSigner } from './issuer-signer.js';
import { createRevocationList, parseRevocationList, type RevocationReason } from './revocation-list.js';

const newKey = (): CertificateKey => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return { publicKey, signAside: (data) => Promise.resolve(sign('sha256', data, key)) };
};
const [rootKey, signerKey] = [newKey(), newKey()];
const DAY_MS = 86_400_000;
const YEAR = 365 * DAY_MS;

/** Values that hold DER themselves: those of extensions. */
const insideOf = ({ tag, content, children }: DerValue, isExtension: boolean): readonly DerValue[] =>
  tag === DER.octetString && isExtension ? [readDer(content)] : children;

/**
 * Nothing that we make has an empty list (`SIZE (1..MAX)`) or a BOOLEAN FALSE, which is everywhere the default, so that this needs no schema.
 * @throws DerFault
 */
const decodeStrictly = (der: Uint8Array): void => {
  const visit = (value: DerValue, isExtension: boolean): void => {
    if (value.tag & 0x20 && value.children.length === 0) throw new DerFault('a list is empty');
    if (value.tag === DER.boolean && value.content[0] === 0) throw new DerFault('a default is encoded');
    const inside = insideOf(value, isExtension);
    const isNextExtension = inside[0]?.tag === DER.oid;
    for (const next of inside) visit(next, isNextExtension);
  };
  visit(readDer(der), false);
};
const derOf = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');

// Times before and after 2050, where their type changes, with milliseconds.
const time = fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2060, 0, 1) }).map((ms) => new Date(ms));
const octets = fc.uint8Array({ minLength: 16, maxLength: 16 });
const host = fc.stringMatching(/^[a-z]{1,60}\.example$/);
const facts = fc.record({
  notBefore: time,
  random: fc.infiniteStream(octets).map((stream) => () => stream.next().value),
  host,
  country: fc.stringMatching(/^[A-Z]{2}$/),
  state: fc.option(fc.constant('AU-NSW'), { nil: undefined }),
});
const rootOf = async ({
  notBefore,
  random,
  host,
  country,
  state,
}: typeof facts extends fc.Arbitrary<infer F> ? F : never) =>
  createIaca({
    key: rootKey,
    subject: { commonName: `${host} IACA`, country, ...(state && { stateOrProvinceName: state }) },
    ...{ notBefore, notAfter: new Date(notBefore.getTime() + 10 * YEAR), random },
    ...{ issuerUrl: `https://${host}`, crlUrl: `https://${host}/crl` },
  });

const REASONS = [undefined, 'certificateHold', 'keyCompromise', 'cessationOfOperation'] as const satisfies (
  RevocationReason | undefined
)[];
/** Serial numbers of ours and of any other certificate, with a leading one bit or zero octets. */
const revoked = fc.uniqueArray(
  fc.record({
    serialNumber: fc.uint8Array({ minLength: 1, maxLength: 20 }).map((bytes) => Buffer.from(bytes).toString('hex')),
    revokedAt: time,
    reason: fc.constantFrom(...REASONS),
  }),
  { maxLength: 20, selector: ({ serialNumber }) => BigInt(`0x${serialNumber}`) },
);

describe('DER that is made [T780]', () => {
  it('of an IACA, its signers, their requests and of issuer signers passes a strict decoder', async () => {
    await fc.assert(
      fc.asyncProperty(facts, fc.constantFrom('mDL', 'other', 'statusList'), async (given, signed) => {
        const iaca = await rootOf(given);
        const { notBefore, random } = given;
        const period = { notBefore: iaca.notBefore, notAfter: new Date(iaca.notBefore.getTime() + YEAR) };
        const keys = { publicKey: signerKey.publicKey, random };
        const signer = await createDocumentSigner({
          ...{ iaca: iaca.der, iacaKey: rootKey, commonName: `${given.host} 1`, signed },
          ...keys,
          ...period,
        });
        const authority = await createIssuerAuthority({
          key: rootKey,
          commonName: given.host,
          notBefore,
          notAfter: period.notAfter,
          random,
        });
        const issuer = await createIssuerSigner({
          ...{ authority: authority.der, authorityKey: rootKey, issuerUrl: `https://${given.host}/a` },
          ...keys,
          ...period,
        });
        const request = await createDocumentSignerRequest(signerKey, iaca.der, 'Signer 1', signed);
        for (const der of [iaca.der, signer.der, authority.der, issuer.der, derOf(request)]) decodeStrictly(der);
      }),
      { numRuns: 30 },
    );
  });

  it('of a CRL passes a strict decoder, whether or not its entries have reasons, and has every entry', async () => {
    const iaca = await rootOf({
      ...{ notBefore: new Date('2026-01-01'), random: () => randomBytes(16) as never },
      ...{ host: 'a.example', country: 'AU', state: undefined },
    });
    const number = fc.bigInt({ min: 0n, max: 2n ** 159n - 1n });
    await fc.assert(
      fc.asyncProperty(revoked, number, time, async (entries, number, thisUpdate) => {
        const nextUpdate = new Date(thisUpdate.getTime() + 30 * DAY_MS);
        const list = { iaca: iaca.der, iacaKey: rootKey, number, thisUpdate, nextUpdate };
        const der = await createRevocationList({ ...list, revoked: entries as never });
        decodeStrictly(der);
        const read = await parseRevocationList(der, iaca.der, undefined, thisUpdate);
        const numbers = (all: readonly string[]) => all.map((serial) => BigInt(`0x${serial}`));
        expect([numbers(read.revokedSerialNumbers), read.number]).toEqual([
          numbers(entries.map(({ serialNumber }) => serialNumber)),
          number,
        ]);
      }),
      { numRuns: 60 },
    );
  });
});

describe('a strict decoder', () => {
  it.each([
    ['', 'it is empty'],
    ['05000500', 'bytes follow the value'],
    ['3080', 'a length is indefinite'],
    ['30', 'a length is missing'],
    ['3001', 'a length is larger than what follows'],
    ['3084000000', 'a length is larger than what follows'],
    ['30810105', 'a length is longer than necessary'],
    ['3082000105', 'a length is longer than necessary'],
    ['1f0100', 'a tag has several octets'],
    ['1000', 'a SEQUENCE or SET is not constructed'],
    ['230403020000', 'a value that is no SEQUENCE or SET is constructed'],
    ['010101', 'a BOOLEAN is not 00 or FF'],
    ['0100', 'a BOOLEAN is not 00 or FF'],
    ['0200', 'an INTEGER is empty'],
    ['02020001', 'an INTEGER is longer than necessary'],
    ['0202ff80', 'an INTEGER is longer than necessary'],
    ['0a020001', 'an INTEGER is longer than necessary'],
    ['0300', 'a BIT STRING has an incorrect number of unused bits'],
    ['030107', 'a BIT STRING has an incorrect number of unused bits'],
    ['03020880', 'a BIT STRING has an incorrect number of unused bits'],
    ['03020181', 'a BIT STRING has unused bits that are set'],
    ['050100', 'a NULL is not empty'],
    ['0600', 'an OBJECT IDENTIFIER is not minimal'],
    ['06028001', 'an OBJECT IDENTIFIER is not minimal'],
    ['0603558001', 'an OBJECT IDENTIFIER is not minimal'],
    ['060181', 'an OBJECT IDENTIFIER is not minimal'],
    [`170b${Buffer.from('2601010000Z').toString('hex')}`, 'a UTCTime is not YYMMDDHHMMSSZ'],
    [`1811${Buffer.from('20260101000000.0Z').toString('hex')}`, 'a GeneralizedTime is not YYYYMMDDHHMMSSZ'],
    ['3106020102020101', 'a SET is not in ascending order'],
    ['30'.repeat(0) + 'a0', 'a length is missing'],
  ])('refuses %s: %s', (hex, fault) => {
    expect(() => readDer(Buffer.from(hex, 'hex'))).toThrow(new DerFault(fault));
  });

  it.each([
    '0101ff',
    '020100',
    '02020080',
    '0201ff',
    '030100',
    '03020780',
    '0500',
    '0603550406',
    '3106020101020102',
    '06028101',
  ])('reads %s', (hex) => expect(readDer(Buffer.from(hex, 'hex')).tag).toBe(Number.parseInt(hex.slice(0, 2), 16)));

  it('does not follow any depth', () => {
    let nested = Buffer.alloc(0);
    for (let n = 0; n < 40; n++) nested = Buffer.concat([Buffer.of(0x30, nested.length), nested]);
    expect(() => readDer(nested)).toThrow(new DerFault('it is nested too deeply'));
  });
});
