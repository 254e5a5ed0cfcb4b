import type { AccessTokenResponse } from '@attestry/contracts';
import type { GrantedDetail } from '../../sessions/issuance-session/issuance-session.events.js';

/** `authorization_details` of a token response, where there are any (OID4VCI §6.2). */
export const authorizationDetailsOf = (
  details: readonly GrantedDetail[] | undefined,
): Pick<AccessTokenResponse, 'authorization_details'> =>
  details
    ? {
        authorization_details: details.map(({ credentialConfigurationId, credentialIdentifiers }) => ({
          type: 'openid_credential',
          credential_configuration_id: credentialConfigurationId,
          credential_identifiers: credentialIdentifiers,
        })),
      }
    : {};
