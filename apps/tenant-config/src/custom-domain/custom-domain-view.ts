import type { CustomDomain } from '@attestry/contracts';
import type { ConfiguredDomain } from './custom-domain.state.js';

/** A custom domain as the API shows it. */
export const viewOf = ({ name, logoUrl, domain, verificationToken, verifiedAt }: ConfiguredDomain): CustomDomain => ({
  name,
  logoUrl,
  domain,
  verificationToken,
  isVerified: verifiedAt !== undefined,
  ...(verifiedAt !== undefined && { verifiedAt }),
});
