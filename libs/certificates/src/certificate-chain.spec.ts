import { webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  cryptoProvider,
  Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509CertificateGenerator,
  type X509Certificate,
} from '@peculiar/x509';
import { readTrustAnchor, verifyCertificateChain } from './certificate-chain.js';
import { CertificateFault } from './certificate-fault.js';

cryptoProvider.set(webcrypto as unknown as Crypto);
const NOW = new Date('2026-06-01T00:00:00Z');
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface Made {
  certificate: X509Certificate;
  keys: webcrypto.CryptoKeyPair;
  text: string;
}
interface Wanted {
  by?: Made | undefined;
  extensions?: Extension[];
  notBefore?: Date;
  notAfter?: Date;
  hash?: string;
}

let names = 0;
const make = async ({ by, extensions = [], notBefore, notAfter, hash = 'SHA-256' }: Wanted = {}): Promise<Made> => {
  const keys = (await webcrypto.subtle.generateKey(ECDSA, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
  const subject = `CN=certificate ${++names}`;
  const certificate = await X509CertificateGenerator.create({
    subject,
    issuer: by ? by.certificate.subject : subject,
    notBefore: notBefore ?? new Date('2026-01-01T00:00:00Z'),
    notAfter: notAfter ?? new Date('2027-01-01T00:00:00Z'),
    publicKey: keys.publicKey,
    signingKey: (by ?? { keys }).keys.privateKey,
    signingAlgorithm: { ...ECDSA, hash },
    extensions,
  });
  return { certificate, keys, text: Buffer.from(certificate.rawData).toString('base64') };
};
const CA = (pathLength?: number) => new BasicConstraintsExtension(true, pathLength, true);
const usage = (flags: KeyUsageFlags) => new KeyUsagesExtension(flags, true);
const anchorOf = ({ certificate }: Made) => readTrustAnchor(certificate.toString('pem'));

const faultsOf = (act: () => unknown): readonly string[] => {
  try {
    act();
  } catch (error) {
    if (error instanceof CertificateFault) return error.faults;
    throw error;
  }
  throw new Error('it was not refused');
};
const refusalOf = (chain: readonly (Made | string)[], ...roots: Made[]) =>
  faultsOf(() =>
    verifyCertificateChain(
      chain.map((one) => (typeof one === 'string' ? one : one.text)),
      roots.map(anchorOf),
      NOW,
    ),
  );

describe('the chain of a signer', () => {
  it('is valid directly under a root, and under intermediates', async () => {
    const root = await make({ extensions: [CA()] });
    const [upper, other] = await Promise.all([
      make({ by: root, extensions: [CA(1), usage(KeyUsageFlags.keyCertSign)] }),
      make({ extensions: [CA()] }),
    ]);
    const lower = await make({ by: upper, extensions: [CA(0)] });
    const [direct, deep] = [
      await make({ by: root }),
      await make({ by: lower, extensions: [usage(KeyUsageFlags.digitalSignature)] }),
    ];
    const anchors = [other, root].map(anchorOf);
    for (const chain of [[direct], [deep, lower, upper]]) {
      const signer = verifyCertificateChain(
        chain.map(({ text }) => text),
        anchors,
        NOW,
      );
      expect(Buffer.from(signer.node.raw).toString('base64')).toBe(chain[0]!.text);
    }
    expect(refusalOf([deep, upper], root)).toEqual(['certificate 1 must be issued by the certificate that follows it']);
    expect(refusalOf([deep, lower], root)).toEqual(['must be issued by a configured root certificate that is valid']);
    expect(refusalOf([direct], other)).toEqual(['must be issued by a configured root certificate that is valid']);
    expect(refusalOf([direct])).toHaveLength(1);
    // Nothing is verified with keys that no root certifies.
    expect(refusalOf([deep, upper], other)).toEqual(['must be issued by a configured root certificate that is valid']);
  });

  it('is refused after it was accepted: once a certificate has ended, and under other roots', async () => {
    const [root, other] = await Promise.all([make({ extensions: [CA()] }), make({ extensions: [CA()] })]);
    const made = await make({ by: root, notAfter: new Date('2026-06-30T00:00:00Z') });
    const verifyAt = (time: string) => verifyCertificateChain([made.text], [anchorOf(root)], new Date(time));
    for (let n = 0; n < 2; n++)
      expect(verifyAt('2026-06-29T00:00:00Z').node.raw).toEqual(Buffer.from(made.text, 'base64'));
    const ended = ['certificate 1 must not be expired: it ended at 2026-06-30T00:00:00.000Z'];
    expect(faultsOf(() => verifyAt('2026-06-30T00:00:01Z'))).toEqual(ended);
    expect(refusalOf([made], other)).toHaveLength(1);
    expect(refusalOf([made])).toHaveLength(1);
  });

  it('has neither its anchor nor a self-signed signer', async () => {
    const root = await make({ extensions: [CA()] });
    const signer = await make({ by: root });
    expect(refusalOf([signer, root], root)).toEqual(['certificate 2 must not be the trust anchor itself']);
    expect(refusalOf([root], root)).toEqual(['certificate 1 must not be the trust anchor itself']);
    const selfSigned = await make();
    expect(refusalOf([selfSigned], root)).toEqual(['certificate 1 must not be self-signed']);
  });

  it('has CAs that allow its length and sign certificates', async () => {
    const root = await make({ extensions: [CA(0)] });
    const noCa = await make({ by: root });
    const [below, under] = [await make({ by: noCa }), await make({ by: root, extensions: [CA()] })];
    expect(refusalOf([below, noCa], root)).toEqual(['certificate 2 must be the certificate of a CA']);
    const leaf = await make({ by: under });
    expect(refusalOf([leaf, under], root)).toEqual(['must be issued by a configured root certificate that is valid']);
    const wide = await make({ extensions: [CA()] });
    const narrow = await make({ by: wide, extensions: [CA(0)] });
    const middle = await make({ by: narrow, extensions: [CA()] });
    const end = await make({ by: middle });
    expect(refusalOf([end, middle, narrow], wide)).toEqual(['certificate 3 must allow a path length of 1']);
    const unable = await make({ by: wide, extensions: [CA(), usage(KeyUsageFlags.digitalSignature)] });
    expect(refusalOf([await make({ by: unable }), unable], wide)).toEqual([
      'certificate 2 must have the key usage keyCertSign',
    ]);
    const encrypts = await make({ by: wide, extensions: [usage(KeyUsageFlags.keyAgreement)] });
    expect(refusalOf([encrypts], wide)).toEqual(['certificate 1 must have the key usage digitalSignature']);
  });

  it('is valid now, each certificate and the root', async () => {
    const root = await make({ extensions: [CA()] });
    const ended = await make({ by: root, notAfter: new Date('2026-05-31T23:59:59Z') });
    const later = await make({ by: root, notBefore: new Date('2026-06-01T00:00:01Z') });
    expect(refusalOf([ended], root)).toEqual([
      'certificate 1 must not be expired: it ended at 2026-05-31T23:59:59.000Z',
    ]);
    expect(refusalOf([later], root)).toEqual(['certificate 1 must be valid: it begins at 2026-06-01T00:00:01.000Z']);
    const old = await make({ extensions: [CA()], notAfter: new Date('2026-05-01T00:00:00Z') });
    expect(refusalOf([await make({ by: old })], old)).toEqual([
      'must be issued by a configured root certificate that is valid',
    ]);
  });

  it('is not signed with a weak hash, nor restricted in a way that is not applied', async () => {
    const root = await make({ extensions: [CA()] });
    const weak = await make({ by: root, hash: 'SHA-1' });
    expect(refusalOf([weak], root)).toEqual(['certificate 1 must be signed with one of: SHA-256, SHA-384, SHA-512']);
    const constrained = await make({
      by: root,
      extensions: [CA(), new Extension('2.5.29.30', true, new Uint8Array([0x30, 0]))],
    });
    expect(refusalOf([await make({ by: constrained }), constrained], root)).toEqual([
      'certificate 2 must not have the critical extension 2.5.29.30',
    ]);
  });

  it('is bounded, and consists of certificates in base64', async () => {
    const root = await make({ extensions: [CA()] });
    const signer = await make({ by: root });
    expect(refusalOf([], root)).toEqual(['must have 1 to 5 certificates']);
    expect(refusalOf(Array(6).fill(signer), root)).toEqual(['must have 1 to 5 certificates']);
    for (const text of ['', 'A'.repeat(5468), signer.text.replaceAll('+', '-') + '-'])
      expect(refusalOf([text], root)).toEqual(['certificate 1 must be base64 of at most 4096 bytes']);
    expect(refusalOf([signer, 'AAAA'], root)).toEqual(['certificate 2 must be an X.509 certificate']);
  });

  it('consists of certificates whose signature algorithm can be decoded [T486]', async () => {
    const root = await make({ extensions: [CA()] });
    const RSA = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', modulusLength: 2048 };
    const publicExponent = new Uint8Array([1, 0, 1]);
    const keys = await webcrypto.subtle.generateKey({ ...RSA, publicExponent }, true, ['sign', 'verify']);
    const { rawData } = await X509CertificateGenerator.createSelfSigned({
      name: 'CN=RSA',
      keys,
      signingAlgorithm: RSA,
    });
    // RSASSA-PSS with an empty octet string as its parameters, in place of RSASSA-PKCS1-v1_5 without any.
    const der = Buffer.from(rawData).toString('hex').replaceAll('2a864886f70d01010b0500', '2a864886f70d01010a0400');
    const text = Buffer.from(der, 'hex').toString('base64');
    expect(refusalOf([text], root)).toEqual(['certificate 1 must be an X.509 certificate']);
  });
});
