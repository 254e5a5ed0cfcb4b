import { generateKeyPairSync, sign } from 'node:crypto';
import {
  CRLDistributionPointsExtension,
  Extension,
  Name,
  X509CertificateGenerator,
  X509CrlGenerator,
  PublicKey,
} from '@peculiar/x509';
import { verifyCertificateChain } from './certificate-chain.js';
import { CertificateFault } from './certificate-fault.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, spkiOf, type CertificateKey } from './certificate-key.js';
import { parseDocumentSigner } from './document-signer.js';
import { parseIaca } from './iaca.js';
import { parseRevocationList } from './revocation-list.js';
import { parseTrustAnchor } from './trust-anchor.js';

const now = new Date('2026-01-01T00:00:00Z');
const nextYear = new Date('2027-01-01T00:00:00Z');
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key: CertificateKey = {
  publicKey,
  signAside: (data) => Promise.resolve(sign('sha256', data, { key: privateKey, dsaEncoding: 'ieee-p1363' })),
};
const signing = { signingKey: SIGNING_KEY, signingAlgorithm: ECDSA_SHA256 };
const name = new Name([{ CN: [{ printableString: 'Customer' }] }]);

const many = (count: number) =>
  Array.from({ length: count }, (_, n) => new Extension(`1.2.3.${n + 1}`, false, Uint8Array.of(5, 0)));
const points = (count: number) => [
  new CRLDistributionPointsExtension(Array.from({ length: count }, (_, n) => `https://a.example/${n}`)),
];
const certificateWith = async (extensions: Extension[]): Promise<string> => {
  const made = await X509CertificateGenerator.create(
    {
      ...{ serialNumber: '01', subject: name, issuer: name, notBefore: now, notAfter: nextYear },
      ...{ publicKey: new PublicKey(spkiOf(publicKey)), extensions, ...signing },
    },
    signingCrypto(key),
  );
  return made.toString('pem');
};
const listWith = async (extensions: Extension[]): Promise<Uint8Array> => {
  const made = await X509CrlGenerator.create(
    { issuer: name, thisUpdate: now, nextUpdate: nextYear, entries: [], extensions, ...signing },
    signingCrypto(key),
  );
  return new Uint8Array(made.rawData);
};
const derOf = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
const faultsOf = async (parse: () => unknown): Promise<readonly string[]> => {
  try {
    await parse();
    return [];
  } catch (error) {
    if (error instanceof CertificateFault) return error.faults;
    throw error;
  }
};

const EXTENSIONS = 'must have at most 64 extensions';
const POINTS = 'must have at most 64 CRL distribution points';

describe('the extensions of', () => {
  it.each<[string, (pem: string) => unknown]>([
    ['an IACA', (pem) => parseIaca(pem, now)],
    ['a document signer', async (pem) => parseDocumentSigner(pem, derOf(await certificateWith([])), publicKey, now)],
    ['a trust anchor', (pem) => parseTrustAnchor(pem, now)],
  ])('%s are at most 64, and as many distribution points: nothing else is examined [T569]', async (_, parse) => {
    for (const [extensions, fault] of [
      [many(65), EXTENSIONS],
      [many(200), EXTENSIONS],
      [points(65), POINTS],
      [[...points(33), ...points(32)], POINTS],
    ] as const)
      expect(await faultsOf(async () => parse(await certificateWith([...extensions])))).toEqual([fault]);
    for (const extensions of [many(64), points(64)]) {
      const faults = await faultsOf(async () => parse(await certificateWith(extensions)));
      expect(faults).not.toEqual([]);
      expect(faults.filter((fault) => [EXTENSIONS, POINTS].includes(fault))).toEqual([]);
    }
  });

  it('a CRL are at most 64 [T569]', async () => {
    const iaca = derOf(await certificateWith([]));
    const parse = async (extensions: Extension[]) =>
      parseRevocationList(await listWith(extensions), iaca, undefined, now);
    expect(await faultsOf(() => parse(many(65)))).toEqual([EXTENSIONS]);
    expect(await faultsOf(() => parse(points(65)))).toEqual([POINTS]);
    expect(await faultsOf(() => parse(many(64)))).toContain('must have a CRL number');
  });

  it('a certificate of a key proof are at most 64 [T569]', async () => {
    const chain = async (extensions: Extension[]) => [derOf(await certificateWith(extensions)).toString('base64')];
    expect(await faultsOf(async () => verifyCertificateChain(await chain(many(65)), [], now))).toEqual([
      `certificate 1 ${EXTENSIONS}`,
    ]);
    expect(await faultsOf(async () => verifyCertificateChain(await chain(many(64)), [], now))).not.toContain(
      `certificate 1 ${EXTENSIONS}`,
    );
  });
});
