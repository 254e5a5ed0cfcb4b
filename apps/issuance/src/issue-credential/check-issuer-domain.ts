import { oauthError } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';

/** A credential of a DID whose domain the tenant has given up would not be valid (OID4VCI §8.3.1.2). */
export const checkIssuerDomain = async (
  { issuerKey }: ActiveConfiguration,
  isWithdrawn: (did: string) => Promise<boolean>,
): Promise<void> => {
  if (await isWithdrawn(issuerKey.did))
    throw oauthError('credential_request_denied', 'the domain of the issuer has been withdrawn', {
      check: 'check-issuer-domain',
    });
};
