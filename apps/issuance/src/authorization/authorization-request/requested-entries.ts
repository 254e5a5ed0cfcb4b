import { isUuid, oauthError } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { scopeFor } from '../../settings/credential-configuration/scope.js';
import type { RequestedEntries } from '../../sessions/authorization-details/authorization-details.js';
import type { AuthorizationRequest } from './parse-authorization-request.js';

/**
 * Credential configurations that an authorization request names, by details (OID4VCI §5.1.1) or by scope (§5.1.2), where unknown values are
 * ignored. With details, the token response returns identifiers for all of it: a token has either (§6.2).
 * @throws AppError `invalid_scope`, `invalid_authorization_details`
 */
export const requestedEntries = (
  { scopes, details = [] }: Pick<AuthorizationRequest, 'scopes' | 'details'>,
  configurations: readonly ActiveConfiguration[],
): RequestedEntries => {
  const requested = new Set<string>();
  const known = new Set(configurations.map(({ id }) => id));
  const wanted = new Set(scopes);
  for (const { credentialConfigurationId: id } of details) {
    if (!isUuid(id) || !known.has(id))
      throw oauthError(
        'invalid_authorization_details',
        'credential_configuration_id must be a credential configuration of this issuer',
        {
          check: 'requested-entries',
        },
      );
    requested.add(id);
  }
  for (const configuration of configurations) if (wanted.has(scopeFor(configuration))) requested.add(configuration.id);
  if (requested.size === 0)
    throw oauthError('invalid_scope', 'scope must name a credential configuration of this issuer', {
      check: 'requested-entries',
    });
  return {
    entries: configurations
      .filter(({ id }) => requested.has(id))
      .map((configuration) => ({ credentialConfigurationId: configuration.id, scope: scopeFor(configuration) })),
    ...(details.length > 0 && { detailed: [...requested] }),
  };
};
