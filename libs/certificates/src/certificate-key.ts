import type { KeyObject } from 'node:crypto';

/** A P-256 key that signs certificates; `Signer` of libs/keys is one. */
export interface CertificateKey {
  publicKey: KeyObject;
  /** ES256, raw r and s. */
  signAside(data: Uint8Array): Promise<Uint8Array>;
}

export const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** ecdsa-with-SHA256, RFC 5758 §3.2. */
export const ECDSA_SHA256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Members of the signing key that the generators of @peculiar/x509 read. */
export const SIGNING_KEY = { algorithm: ECDSA_SHA256 } as unknown as CryptoKey;

/** Methods of a crypto provider that the generators of @peculiar/x509 call. Private keys stay in the vault, which signs. */
export const signingCrypto = (key: CertificateKey): Crypto =>
  ({
    subtle: {
      sign: (_algorithm: unknown, _key: unknown, data: ArrayBuffer) => key.signAside(new Uint8Array(data)),
      exportKey: () => Promise.resolve(spkiOf(key.publicKey)),
    },
  }) as unknown as Crypto;

/** DER of the SubjectPublicKeyInfo. */
export const spkiOf = (key: KeyObject): Uint8Array<ArrayBuffer> =>
  new Uint8Array(key.export({ type: 'spki', format: 'der' }));
