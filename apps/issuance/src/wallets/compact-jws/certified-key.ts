import type { KeyObject } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CertificateFault, ParsedCertificate } from '@attestry/certificates';
import { LRUCache } from 'lru-cache';

/** Parsed root certificates, by their PEM. */
const anchors = new LRUCache<string, ParsedCertificate>({ max: 1000 });

/** Root certificates that were checked when they were stored. */
export const loadTrustAnchors = async (pems: readonly string[]): Promise<ParsedCertificate[]> => {
  // Loaded by the first wallet that uses certificates.
  const { readTrustAnchor } = await import('@attestry/certificates');
  return pems.map((pem) => {
    const anchor = anchors.get(pem) ?? readTrustAnchor(pem);
    anchors.set(pem, anchor);
    return anchor;
  });
};

/**
 * The key of the certificate with which a header parameter `x5c` begins (RFC 7515 §4.1.6), of any type.
 * @throws what `refused` makes, if no trust anchor certifies it
 */
export const certifiedKeyOf = async (
  x5c: unknown,
  trusted: readonly ParsedCertificate[],
  now: Date,
  refused: (fault: string, cause?: unknown) => Error,
): Promise<KeyObject> => {
  if (!Array.isArray(x5c) || !x5c.every((entry) => typeof entry === 'string'))
    throw refused('x5c must be an array of base64 certificates');
  const { CertificateFault: Fault, verifyCertificateChain } = await import('@attestry/certificates');
  // A request may have ten chains: other requests are served between them.
  await nextTurn();
  try {
    return verifyCertificateChain(x5c, trusted, now).node.publicKey;
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw refused(`x5c ${(error satisfies CertificateFault).faults.join(', ')}`, error);
  }
};
