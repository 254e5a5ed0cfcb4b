import { execFileSync, spawnSync } from 'node:child_process';
import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate as NodeCertificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hasOpenssl, skipSuite } from '@attestry/testing';
import type { CertificateKey } from './certificate-key.js';
import { CertificateFault } from './certificate-fault.js';
import {
  createDocumentSigner,
  createDocumentSignerRequest,
  documentSignerPeriod,
  type DocumentSignerFacts,
} from './document-signer.js';
import { createIaca, type IacaFacts } from './iaca.js';
import { createRevocationList } from './revocation-list.js';
import { serialNumber } from './serial-number.js';

if (!hasOpenssl()) skipSuite('certificates', 'openssl is not installed (Debian: apt install openssl)');
const suite = hasOpenssl() ? describe : describe.skip;

let folder: string;
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'certificates-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
const openssl = (...args: string[]): string => execFileSync('openssl', args, { encoding: 'utf8' });
/** The text of each extension, by its name. */
const extensionsOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/^ {12}(X509v3 [^\n]+?): ?(critical)?\s*\n((?: {16}.*\n)+)/gm)].map(
      ([, name, critical, value]) => [`${name}${critical ? ' (critical)' : ''}`, value!.trim().replaceAll(/\s+/g, ' ')],
    ),
  );

const newKey = (): CertificateKey => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return { publicKey, signAside: (data) => Promise.resolve(sign('sha256', data, key)) };
};
const random = (length: number) => randomBytes(length);
const DAY = 86_400_000;
const at = (days: number) => new Date(Date.UTC(2026, 0, 31, 12) + days * DAY);
const [iacaKey, signerKey] = [newKey(), newKey()];
const iacaFacts = (changes: Partial<IacaFacts> = {}): IacaFacts => ({
  key: iacaKey,
  subject: { commonName: 'acme.example IACA', country: 'AU', stateOrProvinceName: 'AU-NSW' },
  notBefore: at(0),
  notAfter: at(3650),
  issuerUrl: 'https://acme.example',
  crlUrl: 'https://acme.example/v2/credentials/mobile/iacas/1/crl',
  random,
  ...changes,
});
const issueSigner = async (changes: Partial<DocumentSignerFacts> = {}) => {
  const iaca = await createIaca(iacaFacts());
  const facts = {
    iaca: iaca.der,
    iacaKey,
    publicKey: signerKey.publicKey,
    commonName: 'acme.example signer 1',
    random,
  };
  return { iaca, signer: await createDocumentSigner({ ...facts, notBefore: at(1), notAfter: at(458), ...changes }) };
};

suite('an IACA', () => {
  it('has the profile of ISO/IEC 18013-5 Annex B, as openssl reads it', async () => {
    const iaca = await createIaca(iacaFacts());
    const text = openssl('x509', '-in', file('iaca.pem', iaca.pem), '-noout', '-text');
    expect(text).toContain('Version: 3 (0x2)');
    expect(text).toContain('Signature Algorithm: ecdsa-with-SHA256');
    expect(text).toContain('Issuer: C = AU, ST = AU-NSW, CN = acme.example IACA');
    expect(text).toContain('Subject: C = AU, ST = AU-NSW, CN = acme.example IACA');
    expect(text).toContain('Not Before: Jan 31 12:00:00 2026 GMT');
    expect(text).toContain('Not After : Jan 29 12:00:00 2036 GMT');
    expect(text).toContain('NIST CURVE: P-256');
    expect(extensionsOf(text)).toEqual({
      'X509v3 Basic Constraints (critical)': 'CA:TRUE, pathlen:0',
      'X509v3 Key Usage (critical)': 'Certificate Sign, CRL Sign',
      'X509v3 Subject Key Identifier': expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/) as string,
      'X509v3 Issuer Alternative Name': 'URI:https://acme.example',
      'X509v3 CRL Distribution Points': 'Full Name: URI:https://acme.example/v2/credentials/mobile/iacas/1/crl',
    });
    expect(
      openssl(
        'verify',
        '-x509_strict',
        '-attime',
        `${at(1).getTime() / 1000}`,
        '-CAfile',
        join(folder, 'iaca.pem'),
        join(folder, 'iaca.pem'),
      ),
    ).toContain('OK');
  });

  it('is described with its PEM, fingerprint and names', async () => {
    const iaca = await createIaca(iacaFacts());
    const node = new NodeCertificate(iaca.pem);
    expect(iaca).toEqual({
      der: new Uint8Array(node.raw),
      pem: node.toString(),
      fingerprint: createHash('sha256').update(node.raw).digest('hex'),
      serialNumber: node.serialNumber.toLowerCase(),
      subject: { commonName: 'acme.example IACA', country: 'AU', stateOrProvinceName: 'AU-NSW' },
      notBefore: at(0),
      notAfter: at(3650),
      publicKey: node.publicKey,
      hosts: ['acme.example'],
    });
    expect(node.publicKey.equals(iacaKey.publicKey)).toBe(true);
    expect(node.fingerprint256.replaceAll(':', '').toLowerCase()).toBe(iaca.fingerprint);
  });

  it('has names of type PrintableString, a common name of at most 64 characters, and no state unless one is given', async () => {
    const { der, subject } = await createIaca(
      iacaFacts({ subject: { commonName: `${'a'.repeat(70)} IACA`, country: 'ZZ' } }),
    );
    expect(subject).toEqual({ commonName: 'a'.repeat(64), country: 'ZZ' });
    const structure = openssl('asn1parse', '-inform', 'DER', '-in', file('iaca.der', der));
    expect(structure.match(/PRINTABLESTRING/g)).toHaveLength(4);
    expect(structure).not.toContain('UTF8STRING');
  });

  it('may end after 2049, where times are of another type', async () => {
    const iaca = await createIaca(iacaFacts({ notBefore: at(365 * 10), notAfter: at(365 * 29) }));
    expect(openssl('x509', '-in', file('late.pem', iaca.pem), '-noout', '-enddate')).toContain('2055');
    expect(iaca.notAfter).toEqual(at(365 * 29));
  });

  it.each<[string, Partial<IacaFacts>, string]>([
    [
      'a common name that is no PrintableString',
      { subject: { commonName: 'Länd', country: 'DE' } },
      "commonName must consist of letters, digits, spaces and the characters '()+,-./:=?",
    ],
    [
      'an empty common name',
      { subject: { commonName: '', country: 'DE' } },
      "commonName must consist of letters, digits, spaces and the characters '()+,-./:=?",
    ],
    [
      'a country in lower case',
      { subject: { commonName: 'x', country: 'de' } },
      'country must be two upper-case letters (ISO 3166-1)',
    ],
    [
      'a state of another form',
      { subject: { commonName: 'x', country: 'DE', stateOrProvinceName: 'Bavaria' } },
      'stateOrProvinceName must be an upper-case code of ISO 3166-2 such as AU-NSW',
    ],
    ['an end before its beginning', { notAfter: at(0) }, 'notAfter must be later than notBefore'],
    ['more than 20 years', { notAfter: at(20 * 366) }, 'notAfter must be at most 20 years after notBefore'],
  ])('is refused with %s', async (_, changes, fault) => {
    const error: unknown = await createIaca(iacaFacts(changes)).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(CertificateFault);
    expect((error as CertificateFault).faults).toEqual([fault]);
  });

  it('may last exactly 20 years', async () => {
    const notAfter = new Date(Date.UTC(2046, 0, 31, 12));
    expect((await createIaca(iacaFacts({ notAfter }))).notAfter).toEqual(notAfter);
  });
});

suite('a document signer', () => {
  it('has the profile of ISO/IEC 18013-5 Annex B under its IACA, as openssl reads it', async () => {
    const { iaca, signer } = await issueSigner();
    const text = openssl('x509', '-in', file('signer.pem', signer.pem), '-noout', '-text');
    expect(text).toContain('Issuer: C = AU, ST = AU-NSW, CN = acme.example IACA');
    expect(text).toContain('Subject: C = AU, ST = AU-NSW, CN = acme.example signer 1');
    const extensions = extensionsOf(text);
    expect(extensions).toEqual({
      'X509v3 Authority Key Identifier': extensionsOf(
        openssl('x509', '-in', file('ca.pem', iaca.pem), '-noout', '-text'),
      )['X509v3 Subject Key Identifier'],
      'X509v3 Subject Key Identifier': expect.stringMatching(/^([0-9A-F]{2}:){19}[0-9A-F]{2}$/) as string,
      'X509v3 Key Usage (critical)': 'Digital Signature',
      'X509v3 Extended Key Usage (critical)': '1.0.18013.5.1.2',
      'X509v3 Issuer Alternative Name': 'URI:https://acme.example',
      'X509v3 CRL Distribution Points': 'Full Name: URI:https://acme.example/v2/credentials/mobile/iacas/1/crl',
    });
    expect(
      openssl(
        'verify',
        '-x509_strict',
        '-attime',
        `${at(2).getTime() / 1000}`,
        '-CAfile',
        join(folder, 'ca.pem'),
        join(folder, 'signer.pem'),
      ),
    ).toContain('OK');
    expect(signer.publicKey.equals(signerKey.publicKey)).toBe(true);
  });

  it('of status lists has no extended key usage: that of Token Status List has no object identifier yet', async () => {
    const { signer } = await issueSigner({ signed: 'statusList' });
    const extensions = extensionsOf(openssl('x509', '-in', file('signer.pem', signer.pem), '-noout', '-text'));
    expect(extensions).toMatchObject({ 'X509v3 Key Usage (critical)': 'Digital Signature' });
    expect(Object.keys(extensions).filter((name) => name.includes('Extended'))).toEqual([]);
    const iaca = { notBefore: at(0), notAfter: at(7000) };
    expect(documentSignerPeriod('statusList', at(10), iaca)).toEqual({
      notBefore: at(10),
      notAfter: at(467),
      signsUntil: at(437),
    });
    // The last one signs until its IACA ends.
    expect(documentSignerPeriod('statusList', at(6600), iaca).signsUntil).toEqual(at(7000));
  });

  it.each<[string, Partial<DocumentSignerFacts>, string]>([
    ['begins before its IACA', { notBefore: at(-1) }, 'must not be valid before or after the IACA'],
    ['ends after its IACA', { notAfter: at(3651) }, 'must not be valid before or after the IACA'],
    ['ends before it begins', { notAfter: at(1) }, 'notAfter must be later than notBefore'],
    [
      'has a name that is no PrintableString',
      { commonName: 'a@b' },
      "commonName must consist of letters, digits, spaces and the characters '()+,-./:=?",
    ],
  ])('is refused when it %s', async (_, changes, fault) => {
    await expect(issueSigner(changes)).rejects.toEqual(new CertificateFault([fault]));
  });

  it('lives 457 days for driving licences, of which it signs for 30, otherwise 3,650, and never longer than its IACA', () => {
    const iaca = { notBefore: at(0), notAfter: at(7000) };
    const noon = new Date(at(10).getTime() + 999);
    expect(documentSignerPeriod('mDL', noon, iaca)).toEqual({
      notBefore: at(10),
      notAfter: at(467),
      signsUntil: at(40),
    });
    expect(documentSignerPeriod('other', noon, iaca)).toEqual({
      notBefore: at(10),
      notAfter: at(3660),
      signsUntil: at(40),
    });
    expect(documentSignerPeriod('other', at(3351), iaca)).toEqual({
      notBefore: at(3351),
      notAfter: at(7000),
      signsUntil: at(7000),
    });
    expect(documentSignerPeriod('mDL', at(6600), iaca)).toEqual({
      notBefore: at(6600),
      notAfter: at(7000),
      signsUntil: at(6630),
    });
    expect(documentSignerPeriod('other', at(6990), iaca)).toEqual({
      notBefore: at(6990),
      notAfter: at(7000),
      signsUntil: at(7000),
    });
    expect(documentSignerPeriod('mDL', at(6990), iaca).signsUntil).toEqual(at(7000));
    for (const day of [-1, 7000, 7001])
      expect(() => documentSignerPeriod('mDL', at(day), iaca)).toThrow(
        'notBefore must be within the validity of the IACA',
      );
  });

  it('requests its certificate with its key, the country and state of the IACA, and both usages', async () => {
    const iaca = await createIaca(iacaFacts());
    const request = await createDocumentSignerRequest(signerKey, iaca.der, 'acme.example signer 1');
    const { status, stdout, stderr } = spawnSync(
      'openssl',
      ['req', '-in', file('signer.csr', request), '-noout', '-text', '-verify'],
      { encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([0, expect.stringContaining('verify OK')]);
    expect(stdout).toContain('Subject: C = AU, ST = AU-NSW, CN = acme.example signer 1');
    expect(stdout).toMatch(
      /X509v3 Key Usage: critical\s+Digital Signature\s+X509v3 Extended Key Usage: critical\s+1\.0\.18013\.5\.1\.2/,
    );
    expect(openssl('req', '-in', join(folder, 'signer.csr'), '-noout', '-pubkey')).toBe(
      signerKey.publicKey.export({ type: 'spki', format: 'pem' }),
    );
    await expect(createDocumentSignerRequest(signerKey, iaca.der, 'a@b')).rejects.toThrow(CertificateFault);
  });
});

suite('a CRL', () => {
  const crlOf = async (revoked: Parameters<typeof createRevocationList>[0]['revoked'], number = 7n) => {
    const { iaca, signer } = await issueSigner();
    const der = await createRevocationList({
      iaca: iaca.der,
      iacaKey,
      number,
      thisUpdate: at(2),
      nextUpdate: at(9),
      revoked,
    });
    return {
      iaca,
      signer,
      der,
      text: openssl('crl', '-inform', 'DER', '-in', file('list.crl', der), '-noout', '-text'),
    };
  };

  it('has version 2, the issuer, both times, its number and the key identifier of the IACA', async () => {
    const { iaca, text } = await crlOf([]);
    expect(text).toContain('Version 2 (0x1)');
    expect(text).toContain('Issuer: C = AU, ST = AU-NSW, CN = acme.example IACA');
    expect(text).toContain('Last Update: Feb  2 12:00:00 2026 GMT');
    expect(text).toContain('Next Update: Feb  9 12:00:00 2026 GMT');
    expect(text).toMatch(/X509v3 Authority Key Identifier: \s+([0-9A-F]{2}:){19}/);
    expect(text).toMatch(/X509v3 CRL Number: \s+7\n/);
    expect(text).toContain('No Revoked Certificates.');
    const verified = spawnSync(
      'openssl',
      ['crl', '-inform', 'DER', '-in', join(folder, 'list.crl'), '-noout', '-CAfile', file('ca.pem', iaca.pem)],
      { encoding: 'utf8' },
    );
    expect(verified.stderr).toContain('verify OK');
  });

  it.each([0n, 127n, 128n, 255n, 256n, 65_535n, 2n ** 63n])('has the number %i', async (number) => {
    const { text } = await crlOf([], number);
    const [, shown] = /X509v3 CRL Number: \s+(\S+)/.exec(text)!;
    expect(BigInt(shown!)).toBe(number);
  });

  it('lists serial numbers with time and reason, also certificateHold', async () => {
    const { text } = await crlOf([
      { serialNumber: '40aa', revokedAt: at(1), reason: 'certificateHold' },
      { serialNumber: '80bb', revokedAt: at(2), reason: 'cessationOfOperation' },
    ]);
    const entries = text.slice(text.indexOf('Revoked Certificates:')).replaceAll(/\s+/g, ' ');
    expect(entries).toContain(
      'Serial Number: 40AA Revocation Date: Feb 1 12:00:00 2026 GMT CRL entry extensions: X509v3 CRL Reason Code: Certificate Hold',
    );
    expect(entries).toContain(
      'Serial Number: 80BB Revocation Date: Feb 2 12:00:00 2026 GMT CRL entry extensions: X509v3 CRL Reason Code: Cessation Of Operation',
    );
  });

  it('lists serial numbers without a reason', async () => {
    const { text } = await crlOf([{ serialNumber: '40aa', revokedAt: at(1) }]);
    const entries = text.slice(text.indexOf('Revoked Certificates:')).replaceAll(/\s+/g, ' ');
    expect(entries).toContain('Serial Number: 40AA Revocation Date: Feb 1 12:00:00 2026 GMT Signature Algorithm');
  });

  it('makes an independent validation of the chain fail once the signer is on it', async () => {
    const { iaca, signer } = await issueSigner();
    const check = async (revoked: string[]) => {
      const der = await createRevocationList({
        ...{ iaca: iaca.der, iacaKey, number: 1n, thisUpdate: at(2), nextUpdate: at(9) },
        revoked: revoked.map((it) => ({ serialNumber: it, revokedAt: at(2), reason: 'keyCompromise' })),
      });
      openssl('crl', '-inform', 'DER', '-in', file('list.crl', der), '-out', join(folder, 'crl.pem'));
      const [ca, leaf] = [file('ca.pem', iaca.pem), file('signer.pem', signer.pem)];
      const time = ['-attime', `${at(3).getTime() / 1000}`];
      return spawnSync(
        'openssl',
        ['verify', '-crl_check', ...time, '-CAfile', ca, '-CRLfile', join(folder, 'crl.pem'), leaf],
        { encoding: 'utf8' },
      );
    };
    expect((await check([])).status).toBe(0);
    expect((await check(['40aa'])).status).toBe(0);
    const { status, stderr } = await check(['40aa', signer.serialNumber]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('certificate revoked')]);
  });
});

suite('a serial number', () => {
  it('is positive, random and of 16 octets', () => {
    const numbers = Array.from({ length: 1000 }, () => serialNumber(random));
    expect(new Set(numbers).size).toBe(1000);
    for (const number of numbers) expect(number).toMatch(/^[4-7][0-9a-f]{31}$/);
    expect(serialNumber(() => new Uint8Array(16))).toBe(`40${'00'.repeat(15)}`);
    expect(serialNumber(() => new Uint8Array(16).fill(0xff))).toBe(`7f${'ff'.repeat(15)}`);
  });
});
