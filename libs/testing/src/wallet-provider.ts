import { webcrypto } from 'node:crypto';
import type { BasicConstraintsExtension as ConstraintsExtension } from '@peculiar/x509';
import { importJWK, SignJWT, type JWK, type JWTHeaderParameters, type JWTPayload } from 'jose';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/** A provider of wallets, which attests their instances. */
export class WalletProvider {
  private constructor(
    /** PEM. */
    readonly rootCertificate: string,
    private readonly x5c: string[],
    private readonly key: CryptoKey,
    /** `x5c` with a certificate of the key, under the root. */
    readonly certify: (publicJwk: JWK) => Promise<string[]>,
  ) {}

  static async create(): Promise<WalletProvider> {
    const { BasicConstraintsExtension, cryptoProvider, X509CertificateGenerator } = await import('@peculiar/x509');
    cryptoProvider.set(webcrypto as unknown as Crypto);
    const makeKeys = () =>
      webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>;
    const [root, attester] = await Promise.all([makeKeys(), makeKeys()]);
    const [notBefore, notAfter] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + 365 * DAY_MS)];
    const certificate = (subject: string, publicKey: CryptoKey, extensions: ConstraintsExtension[] = []) =>
      X509CertificateGenerator.create({
        ...{ subject, issuer: 'CN=Wallet provider', publicKey, signingKey: root.privateKey },
        ...{ signingAlgorithm: ECDSA, notBefore, notAfter, extensions },
      });
    const ca = await certificate('CN=Wallet provider', root.publicKey, [new BasicConstraintsExtension(true, 0, true)]);
    const chainOf = async (subject: string, publicKey: CryptoKey) => {
      const { rawData } = await certificate(subject, publicKey);
      return [Buffer.from(rawData).toString('base64')];
    };
    return new WalletProvider(
      ca.toString('pem'),
      await chainOf('CN=Attester', attester.publicKey),
      attester.privateKey,
      async (publicJwk) =>
        chainOf('CN=Holder', (await importJWK(publicJwk, 'ES256', { extractable: true })) as CryptoKey),
    );
  }

  /** One that was made elsewhere. @param jwk private key of the attester, with `x5c` */
  static async of(rootCertificate: string, jwk: JWK): Promise<WalletProvider> {
    const key = (await importJWK(jwk, 'ES256')) as CryptoKey;
    const refuse = () => Promise.reject(new Error('the key of the root is not known'));
    return new WalletProvider(rootCertificate, jwk.x5c!, key, refuse);
  }

  /** Client attestation of a wallet instance; claims and header parameters may be replaced. */
  attest(clientId: string, jwk: JWK, claims: JWTPayload = {}, header: Partial<JWTHeaderParameters> = {}) {
    const seconds = Math.floor(Date.now() / 1000);
    return new SignJWT({
      iss: 'https://wallet-provider.example',
      sub: clientId,
      iat: seconds,
      exp: seconds + 300,
      cnf: { jwk },
      ...claims,
    })
      .setProtectedHeader({ typ: 'oauth-client-attestation+jwt', alg: 'ES256', x5c: this.x5c, ...header })
      .sign(this.key);
  }

  /** Key attestation of OID4VCI 1.0 Appendix D.1; claims and header parameters may be replaced. */
  attestKeys(
    attested_keys: readonly JWK[],
    nonce: string,
    claims: JWTPayload = {},
    header: Partial<JWTHeaderParameters> = {},
  ) {
    const seconds = Math.floor(Date.now() / 1000);
    return new SignJWT({ iat: seconds, exp: seconds + 300, attested_keys, nonce, ...claims })
      .setProtectedHeader({ typ: 'key-attestation+jwt', alg: 'ES256', x5c: this.x5c, ...header })
      .sign(this.key);
  }
}
