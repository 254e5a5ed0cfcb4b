import { oauthError } from '@attestry/contracts';
import type { AuthorizedSession, OfferedSession } from '../../sessions/issuance-session/issuance-session.decisions.js';
import type { GrantedDetail } from '../../sessions/issuance-session/issuance-session.events.js';
import type { RequestedDetail } from '../../sessions/authorization-details/authorization-details.js';

/**
 * OID4VCI §6.1.1 and §6.2: the credentials of the offer or the authorization request are granted, with an identifier for each. Details of the
 * authorization request need not be repeated. Where the session binds claim sets, the issuer chooses them.
 * @param identifiers one for each entry of the session
 */
export const checkAuthorizationDetails = (
  session: OfferedSession | AuthorizedSession,
  requested: readonly RequestedDetail[] | undefined,
  identifiers: readonly string[],
): GrantedDetail[] | undefined => {
  if (session.identifiers) {
    if (requested)
      throw refused('authorization_details must not be sent: the issuer chose the credentials of the offer');
    return session.identifiers;
  }
  if (!requested) {
    const { origin } = session;
    return origin.kind === 'authorizationRequest'
      ? origin.detailed?.map((credentialConfigurationId, index) => ({
          credentialConfigurationId,
          credentialIdentifiers: [identifiers[index]!],
        }))
      : undefined;
  }
  const granted = new Map<string, GrantedDetail>();
  for (const { credentialConfigurationId } of requested) {
    if (!session.entries.some((entry) => entry.credentialConfigurationId === credentialConfigurationId))
      throw refused('credential_configuration_id was neither offered nor requested');
    if (granted.has(credentialConfigurationId)) throw refused('credential_configuration_id must not be repeated');
    granted.set(credentialConfigurationId, {
      credentialConfigurationId,
      credentialIdentifiers: [identifiers[granted.size]!],
    });
  }
  return [...granted.values()];
};

const refused = (description: string) =>
  oauthError('invalid_authorization_details', description, { check: 'check-authorization-details' });
