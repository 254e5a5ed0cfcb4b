import type { KeyRequirements } from '@attestry/contracts';
import { readRoots } from '../../certificates/certificate-keys/read-roots.js';

/**
 * Stored key requirements of a request.
 * @param replaced the content that an update replaces
 * @throws AppError 400 that names the root certificate
 */
export const readKeyRequirements = async (
  { keyAttestation: requested, proofRootCertificates: proofRoots }: KeyRequirements,
  now: Date,
  replaced: KeyRequirements = {},
): Promise<KeyRequirements> => {
  const stored: KeyRequirements = {};
  if (requested) {
    const known = replaced.keyAttestation?.rootCertificates;
    stored.keyAttestation = {
      ...(requested.keyStorage && { keyStorage: requested.keyStorage }),
      ...(requested.userAuthentication && { userAuthentication: requested.userAuthentication }),
      rootCertificates: await readRoots('keyAttestation.rootCertificates', requested.rootCertificates, now, known),
    };
  }
  if (proofRoots)
    stored.proofRootCertificates = await readRoots(
      ...(['proofRootCertificates', proofRoots, now, replaced.proofRootCertificates] as const),
    );
  return stored;
};
