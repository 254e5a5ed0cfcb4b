import { refuseCertificateFaults } from '../certificate-keys/refuse-certificate-faults.js';

/**
 * Root certificates of a request in the form that is stored: PEM of RFC 7468 §2. One that the wallet has already is not read again: it may
 * have expired, which must not prevent a change of the wallet.
 * @throws AppError 400 that names the entry
 */
export const readRoots = async (
  pems: readonly string[] | undefined,
  now: Date,
  known: readonly string[] = [],
): Promise<string[] | undefined> => {
  if (!pems) return undefined;
  const { parseTrustAnchor } = await import('@attestry/certificates');
  const roots: string[] = [];
  for (const [index, pem] of pems.entries())
    roots.push(
      known.includes(pem)
        ? pem
        : await refuseCertificateFaults(`rootCertificates.${index}`, () => parseTrustAnchor(pem, now).pem),
    );
  return roots;
};
