import { oauthError, type TenantContext } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { WithdrawnDomains } from '../withdrawn-domains/withdrawn-domains.directory.js';

/** A credential of a DID whose domain the tenant has given up would not be valid (OID4VCI §8.3.1.2). */
export const checkIssuerDomain = async (
  { issuerKey }: ActiveConfiguration,
  { id, host }: Pick<TenantContext, 'id' | 'host'>,
  withdrawn: Pick<WithdrawnDomains, 'includes'>,
): Promise<void> => {
  if (await withdrawn.includes(id, issuerKey.did, host))
    throw oauthError('credential_request_denied', 'the domain of the issuer has been withdrawn', {
      check: 'check-issuer-domain',
    });
};
