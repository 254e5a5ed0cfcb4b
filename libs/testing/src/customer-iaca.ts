import { spawnSync } from 'node:child_process';
import { webcrypto, X509Certificate as NodeCertificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonGeneralName, X509CrlEntryParams } from '@peculiar/x509';

const DAY_MS = 86_400_000;
const SIGNING = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const SUBJECT = 'C=AU, ST=AU-NSW, CN=Customer IACA';
const ADDRESS = 'https://customer.example';
const NAMES: JsonGeneralName[] = [{ type: 'url', value: ADDRESS }];
const EXTENDED_KEY_USAGE = '2.5.29.37';
const load = () => import('@peculiar/x509');

/** An issuing authority that keeps its own key (ISO/IEC 18013-5 Annex B). */
export class CustomerIaca {
  private readonly revoked: X509CrlEntryParams[] = [];
  private crls = 0;

  private constructor(
    private readonly keys: webcrypto.CryptoKeyPair,
    readonly certificatePem: string,
  ) {}

  /** Certificate that began two days ago. */
  static async create(days = 3650, issuerNames = NAMES): Promise<CustomerIaca> {
    const x509 = await load();
    const keys = await webcrypto.subtle.generateKey(SIGNING, true, ['sign', 'verify']);
    const notBefore = wholeSecond(Date.now() - 2 * DAY_MS);
    const certificate = await x509.X509CertificateGenerator.createSelfSigned(
      {
        name: SUBJECT,
        notBefore,
        notAfter: wholeSecond(notBefore.getTime() + days * DAY_MS),
        keys,
        signingAlgorithm: SIGNING,
        extensions: [
          new x509.BasicConstraintsExtension(true, 0, true),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
          await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
          new x509.IssuerAlternativeNameExtension(issuerNames),
          new x509.CRLDistributionPointsExtension([`${ADDRESS}/crl`]),
        ],
      },
      webcrypto as Crypto,
    );
    return new CustomerIaca(keys, `${certificate.toString('pem')}\n`);
  }

  /** A certificate for the request of a document signer or a status list signer, with the extended key usage that it asks for, PEM. */
  async issue(csrPem: string, days = 457, issuerNames = NAMES): Promise<string> {
    const x509 = await load();
    const { publicKey, extensions } = new x509.Pkcs10CertificateRequest(csrPem);
    const notBefore = wholeSecond(Date.now());
    const certificate = await x509.X509CertificateGenerator.create(
      {
        subject: 'C=AU, ST=AU-NSW, CN=Customer signer',
        issuer: SUBJECT,
        notBefore,
        notAfter: wholeSecond(notBefore.getTime() + days * DAY_MS),
        publicKey,
        signingKey: this.keys.privateKey,
        signingAlgorithm: SIGNING,
        extensions: [
          await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
          await x509.SubjectKeyIdentifierExtension.create(publicKey),
          new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
          ...extensions.filter(({ type }) => type === EXTENDED_KEY_USAGE),
          new x509.IssuerAlternativeNameExtension(issuerNames),
          new x509.CRLDistributionPointsExtension([`${ADDRESS}/crl`]),
        ],
      },
      webcrypto as Crypto,
    );
    return `${certificate.toString('pem')}\n`;
  }

  /** Lists a certificate in the following CRLs. */
  revoke(certificatePem: string): void {
    const { serialNumber } = new NodeCertificate(certificatePem);
    this.revoked.push({ serialNumber, revocationDate: wholeSecond(Date.now()) });
  }

  /**
   * The next CRL, of 30 days, PEM.
   * @param number DER of the CRL number
   */
  async signCrl(number = Uint8Array.of(2, 1, ++this.crls)): Promise<string> {
    const x509 = await load();
    const thisUpdate = wholeSecond(Date.now());
    const crl = await x509.X509CrlGenerator.create(
      {
        issuer: SUBJECT,
        thisUpdate,
        nextUpdate: wholeSecond(thisUpdate.getTime() + 30 * DAY_MS),
        entries: this.revoked,
        signingKey: this.keys.privateKey,
        signingAlgorithm: SIGNING,
        extensions: [
          await x509.AuthorityKeyIdentifierExtension.create(this.keys.publicKey),
          new x509.Extension('2.5.29.20', false, number),
        ],
      },
      webcrypto as Crypto,
    );
    // The library's label is not that of RFC 7468 §6.
    return crl.toString('pem').replaceAll(/(BEGIN|END) (?:X509 )?CRL/g, '$1 X509 CRL');
  }
}

const wholeSecond = (time: number): Date => new Date(Math.floor(time / 1000) * 1000);

/** Text of a CRL as openssl prints it. @throws Error when the IACA did not sign it */
export const readCrl = (der: Uint8Array, iacaPem: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'crl-'));
  try {
    writeFileSync(join(folder, 'iaca.pem'), iacaPem);
    const args = ['crl', '-inform', 'DER', '-noout', '-text', '-CAfile', join(folder, 'iaca.pem'), '-verify'];
    const { stdout, stderr } = spawnSync('openssl', args, { input: der, encoding: 'utf8' });
    if (!stderr.includes('verify OK')) throw new Error(`openssl crl: ${stderr}`);
    return stdout;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};
