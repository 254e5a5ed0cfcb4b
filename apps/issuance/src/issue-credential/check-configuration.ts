import { bearerChallenge, dpopChallenge, isUuid, oauthError } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { RedeemedSession } from '../issuance-session/issuance-session.state.js';
import type { CurrentConfigurations } from '../protocol/current-configurations.js';
import type { CredentialSelector } from './parse-credential-request.js';

const NOT_COVERED = 'the access token does not cover this credential configuration';

/**
 * The requested configuration (OID4VCI §8.3.1.2): where the token response returned credential identifiers, only they may be used (§8.2). One
 * that exists but is not covered by the token is a 403 (RFC 6750 §3.1, OID4VCI §8.3.1.1).
 */
export const checkConfiguration = async (
  session: RedeemedSession,
  selector: CredentialSelector,
  tenantId: string,
  configurations: Pick<CurrentConfigurations, 'find'>,
): Promise<ActiveConfiguration> => {
  if ('credentialIdentifier' in selector) {
    const granted = session.authorizationDetails?.find(({ credentialIdentifiers }) =>
      credentialIdentifiers.includes(selector.credentialIdentifier),
    );
    const configuration = granted && (await configurations.find(tenantId, granted.credentialConfigurationId));
    if (!configuration)
      throw oauthError(
        'unknown_credential_identifier',
        'credential_identifier is not one that the token response returned',
        {
          check: 'check-configuration',
        },
      );
    return configuration;
  }
  const { configurationId } = selector;
  const configuration = isUuid(configurationId) ? await configurations.find(tenantId, configurationId) : undefined;
  if (!configuration)
    throw oauthError(
      'unknown_credential_configuration',
      'credential_configuration_id is not a credential configuration of this issuer',
      {
        check: 'check-configuration',
      },
    );
  if (session.authorizationDetails)
    throw oauthError(
      'invalid_credential_request',
      'credential_identifier is required, because the token response returned credential identifiers',
      { check: 'check-configuration' },
    );
  let isCovered = false;
  for (const covered of session.entries) isCovered ||= covered.credentialConfigurationId === configurationId;
  if (!isCovered) {
    const challenge = session.accessToken.jkt === undefined ? bearerChallenge : dpopChallenge;
    throw oauthError('insufficient_scope', NOT_COVERED, {
      check: 'check-configuration',
      headers: challenge('insufficient_scope', NOT_COVERED),
    });
  }
  return configuration;
};
