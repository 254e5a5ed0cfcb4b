import { generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { BasicConstraintsExtension, ExtendedKeyUsageExtension, X509Certificate as Parsed } from '@peculiar/x509';
import type { CertificateKey } from './certificate-key.js';
import { createIssuerAuthority, createIssuerSigner } from './issuer-signer.js';

const newKey = (): CertificateKey => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' as const };
  return { publicKey, signAside: (data) => Promise.resolve(sign('sha256', data, key)) };
};
const random = (length: number) => randomBytes(length);
const [authorityKey, signerKey, anotherKey] = [newKey(), newKey(), newKey()];
const period = { notBefore: new Date('2026-01-01T10:00:00Z'), notAfter: new Date('2035-12-30T10:00:00Z') };
const authorityOf = (key: CertificateKey, commonName = 'acme.localhost:8080 CA') =>
  createIssuerAuthority({ key, commonName, ...period, random });

describe('an issuer signer', () => {
  it('is issued by the CA of the tenant for the issuer alone, as node:crypto validates it', async () => {
    const { der } = await authorityOf(authorityKey);
    const made = await createIssuerSigner({
      authority: der,
      authorityKey,
      publicKey: signerKey.publicKey,
      issuerUrl: 'http://acme.localhost:8080',
      ...period,
      random,
    });
    const [authority, signer] = [new X509Certificate(der), new X509Certificate(made.der)];
    expect(signer.checkIssued(authority) && signer.verify(authority.publicKey)).toBe(true);
    expect(signer.verify(signer.publicKey)).toBe(false);
    expect(signer.verify(new X509Certificate((await authorityOf(anotherKey)).der).publicKey)).toBe(false);
    expect(signer.publicKey.equals(signerKey.publicKey)).toBe(true);
    expect([authority.ca, signer.ca]).toEqual([true, false]);
    expect(signer.subjectAltName).toBe('URI:http://acme.localhost:8080');
    expect([authority.subject, signer.issuer, signer.subject]).toEqual([
      'CN=acme.localhost:8080 CA',
      'CN=acme.localhost:8080 CA',
      'CN=acme.localhost:8080',
    ]);
    expect([made.notBefore, made.notAfter]).toEqual([period.notBefore, period.notAfter]);
    expect(made.fingerprint).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has no basic constraints, which would be an empty sequence, and no extended key usage: it signs no mdoc [T744]', async () => {
    const { der } = await authorityOf(authorityKey);
    const facts = { authority: der, authorityKey, publicKey: signerKey.publicKey, issuerUrl: 'https://acme.example' };
    const made = await createIssuerSigner({ ...facts, ...period, random });
    const parsed = new Parsed(new Uint8Array(made.der));
    expect(parsed.getExtension(ExtendedKeyUsageExtension)).toBeNull();
    expect(parsed.getExtension(BasicConstraintsExtension)).toBeNull();
  });

  it('cuts long names to 64 characters', async () => {
    const { der } = await authorityOf(authorityKey, `${'a'.repeat(70)} CA`);
    expect(new X509Certificate(der).subject).toBe(`CN=${'a'.repeat(64)}`);
  });
});
