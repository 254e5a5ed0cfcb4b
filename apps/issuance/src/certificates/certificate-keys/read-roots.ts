import { refuseCertificateFaults } from './refuse-certificate-faults.js';

/**
 * Root certificates of a request in the form that is stored: PEM of RFC 7468 §2. One that is stored already is not read again: it may have
 * expired, which must not prevent other changes.
 * @param member of the request
 * @throws AppError 400 that names the entry
 */
export const readRoots = async (
  member: string,
  pems: readonly string[],
  now: Date,
  known: readonly string[] = [],
): Promise<string[]> => {
  const { parseTrustAnchor } = await import('@attestry/certificates');
  const roots: string[] = [];
  for (const [index, pem] of pems.entries())
    roots.push(
      known.includes(pem)
        ? pem
        : await refuseCertificateFaults(`${member}.${index}`, () => parseTrustAnchor(pem, now).pem),
    );
  return roots;
};
