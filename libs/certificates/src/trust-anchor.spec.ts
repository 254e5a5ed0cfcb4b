import { webcrypto } from 'node:crypto';
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { CertificateFault } from './certificate-fault.js';
import { parseTrustAnchor } from './trust-anchor.js';

const now = new Date('2026-01-01T00:00:00Z');
const EC = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: new Uint8Array([1, 0, 1]),
  modulusLength: 2048,
};

const certificateOf = async ({ algorithm = EC as typeof EC | typeof RSA, ca = true, notAfter = '2027-01-01' } = {}) => {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const certificate = await X509CertificateGenerator.createSelfSigned(
    {
      name: 'CN=Wallet provider',
      notBefore: new Date('2025-01-01'),
      notAfter: new Date(notAfter),
      keys,
      signingAlgorithm: algorithm,
      extensions: [new BasicConstraintsExtension(ca, undefined, true)],
    },
    webcrypto as Crypto,
  );
  return certificate.toString('pem');
};
const faultsOf = (pem: string): readonly string[] => {
  try {
    parseTrustAnchor(pem, now);
    return [];
  } catch (error) {
    if (error instanceof CertificateFault) return error.faults;
    throw error;
  }
};

describe('a trust anchor', () => {
  it.each(['P-256', 'P-384', 'P-521'])('is a CA with a key on %s, in PEM as it is stored', async (namedCurve) => {
    const pem = await certificateOf({ algorithm: { ...EC, namedCurve } });
    const stored = parseTrustAnchor(`Subject: a comment\r\n${pem.replaceAll('\n', '\r\n')}\n\n`, now).pem;
    expect(stored).toMatch(/^-----BEGIN CERTIFICATE-----\n(?:[A-Za-z0-9+/=]{1,64}\n)+-----END CERTIFICATE-----\n$/);
    expect(parseTrustAnchor(stored, now).pem).toBe(stored);
    expect(stored.replaceAll(/\s/g, '')).toBe(pem.replaceAll(/\s/g, ''));
  });

  it('is refused with every rule that it breaks', async () => {
    expect(faultsOf(await certificateOf({ ca: false }))).toEqual([
      'must be the certificate of a CA (basic constraints)',
    ]);
    expect(faultsOf(await certificateOf({ algorithm: RSA, ca: false, notAfter: '2026-01-01' }))).toEqual([
      'must be the certificate of a CA (basic constraints)',
      'must have an EC key on P-256, P-384 or P-521',
      'must not be expired: it ended at 2026-01-01T00:00:00.000Z',
    ]);
    expect(faultsOf(await certificateOf({ notAfter: '2026-01-01T00:00:01Z' }))).toEqual([]);
  });

  it('is one certificate', async () => {
    const pem = await certificateOf();
    const one = ['must be one certificate in PEM, beginning with -----BEGIN CERTIFICATE-----'];
    for (const text of [`${pem}\n${pem}`, '', 'MIIB', pem.replaceAll('CERTIFICATE', 'PUBLIC KEY')])
      expect(faultsOf(text)).toEqual(one);
    expect(faultsOf('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----')).toEqual([
      'must be an X.509 certificate: its content cannot be decoded',
    ]);
  });
});
