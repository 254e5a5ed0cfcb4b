import { oauthError, type TenantContext } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { WithdrawnDomains } from './withdrawn-domains.directory.js';

/**
 * A credential of an issuer whose domain the tenant has given up would not be valid (OID4VCI §8.3.1.2).
 * @param signingIssuer credential issuer identifier, where a certificate for it signs
 */
export const checkIssuerDomain = async (
  { issuerKey }: Pick<ActiveConfiguration, 'issuerKey'>,
  signingIssuer: string | undefined,
  { id, host }: Pick<TenantContext, 'id' | 'host'>,
  withdrawn: Pick<WithdrawnDomains, 'includes'>,
): Promise<void> => {
  if (
    (issuerKey && (await withdrawn.includes(id, issuerKey.did, host))) ||
    (signingIssuer !== undefined && (await withdrawn.includes(id, signingIssuer, host)))
  )
    throw oauthError('credential_request_denied', 'the domain of the issuer has been withdrawn', {
      check: 'check-issuer-domain',
    });
};
