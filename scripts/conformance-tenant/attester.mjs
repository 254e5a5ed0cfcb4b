import { webcrypto } from 'node:crypto';

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;

/**
 * A provider of wallets, with a root and a signer made now: the suite attests its wallets and their keys as this provider would.
 * @returns {Promise<{ issuer: string, rootCertificate: string, jwk: object }>} PEM of the root; private JWK of the signer with `x5c`,
 *   which has the signer's certificate alone (HAIP 1.0 §4.4.1)
 */
export async function makeAttester() {
  // x509 is built on a container that needs it.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const makeKeys = () => webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify']);
  const [root, signer] = await Promise.all([makeKeys(), makeKeys()]);
  const [notBefore, notAfter] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + 365 * DAY_MS)];
  const certify = async (subject, publicKey, extensions) =>
    x509.X509CertificateGenerator.create({
      ...{ subject, issuer: 'CN=Conformance wallet provider', publicKey, signingKey: root.privateKey },
      ...{ signingAlgorithm: ECDSA, notBefore, notAfter },
      extensions: [
        ...extensions,
        await x509.SubjectKeyIdentifierExtension.create(publicKey),
        await x509.AuthorityKeyIdentifierExtension.create(root.publicKey),
      ],
    });
  const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
  const authority = await certify('CN=Conformance wallet provider', root.publicKey, [
    new x509.BasicConstraintsExtension(true, 0, true),
    new x509.KeyUsagesExtension(keyCertSign | cRLSign, true),
  ]);
  const leaf = await certify('CN=Conformance attester', signer.publicKey, [
    new x509.KeyUsagesExtension(digitalSignature, true),
  ]);
  const { kty, crv, x, y, d } = await webcrypto.subtle.exportKey('jwk', signer.privateKey);
  const x5c = [Buffer.from(leaf.rawData).toString('base64')];
  return {
    issuer: 'https://wallet-provider.example',
    rootCertificate: authority.toString('pem'),
    jwk: { kty, crv, x, y, d, alg: 'ES256', use: 'sig', kid: 'attester', x5c },
  };
}
