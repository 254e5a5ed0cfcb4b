import 'reflect-metadata';
import {
  BasicConstraintsExtension,
  KeyUsagesExtension,
  PublicKey,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  type Extension,
  type Name,
} from '@peculiar/x509';
import { readCertificate, type Certificate } from './certificate.js';
import { ECDSA_SHA256, SIGNING_KEY, signingCrypto, spkiOf, type CertificateKey } from './certificate-key.js';
import { IACA_KEY_USAGE } from './profile.js';
import { serialNumber } from './serial-number.js';

export interface RootFacts {
  key: CertificateKey;
  notBefore: Date;
  notAfter: Date;
  /** Random bytes. */
  random: (length: number) => Uint8Array;
}

/** A self-signed certificate of a CA that has no CA below it. */
export const createRoot = async (
  { key, notBefore, notAfter, random }: RootFacts,
  name: Name,
  extensions: readonly Extension[],
): Promise<Certificate> => {
  const publicKey = new PublicKey(spkiOf(key.publicKey));
  const { rawData } = await X509CertificateGenerator.create(
    {
      serialNumber: serialNumber(random),
      subject: name,
      issuer: name,
      notBefore,
      notAfter,
      publicKey,
      signingKey: SIGNING_KEY,
      signingAlgorithm: ECDSA_SHA256,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(IACA_KEY_USAGE, true),
        await SubjectKeyIdentifierExtension.create(publicKey),
        ...extensions,
      ],
    },
    signingCrypto(key),
  );
  return readCertificate(new Uint8Array(rawData));
};
