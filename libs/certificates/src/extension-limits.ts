import { CRLDistributionPointsExtension, type Extension } from '@peculiar/x509';
import { CertificateFault } from './certificate-fault.js';

/** A certificate has about ten; every rule walks them, and each extension that is refused is named. */
const MAX_EXTENSIONS = 64;
/** Names of all distribution points together count, because each is read. */
const MAX_DISTRIBUTION_POINTS = 64;

/** Why a certificate or CRL from outside is not examined further. One that is stored was accepted by the rules of its time. */
export const extensionsFault = (extensions: readonly Extension[]): string | undefined => {
  if (extensions.length > MAX_EXTENSIONS) return `must have at most ${MAX_EXTENSIONS} extensions`;
  let points = 0;
  for (const extension of extensions)
    if (extension instanceof CRLDistributionPointsExtension)
      for (const { distributionPoint } of extension.distributionPoints)
        points += Math.max(1, distributionPoint?.fullName?.length ?? 0);
  return points > MAX_DISTRIBUTION_POINTS
    ? `must have at most ${MAX_DISTRIBUTION_POINTS} CRL distribution points`
    : undefined;
};

/** @throws CertificateFault */
export const checkExtensions = ({ extensions }: { extensions: readonly Extension[] }): void => {
  const fault = extensionsFault(extensions);
  if (fault) throw new CertificateFault([fault]);
};
