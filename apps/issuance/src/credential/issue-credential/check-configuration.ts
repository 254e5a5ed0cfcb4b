import { bearerChallenge, dpopChallenge, isUuid, oauthError, type OAuthErrorCode } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { RedeemedSession } from '../../sessions/issuance-session/issuance-session.state.js';
import type { CurrentConfigurations } from '../../settings/credential-configuration/current-configurations.js';
import type { CredentialSelector } from './parse-credential-request.js';

const NOT_COVERED = 'the access token does not cover this credential configuration';

/** Characters of identifiers that a refusal names. */
const MOST_NAMED = 300;

/** Request within what the access token covers. */
export interface CoveredRequest {
  configuration: ActiveConfiguration;
  /** Identifier of the token response, if that returned any (OID4VCI §8.2). */
  credentialIdentifier: string | undefined;
}

/**
 * The requested configuration (OID4VCI §8.3.1.2): where the token response returned credential identifiers, they are used (§8.2). Several
 * wallets know none and send `credential_configuration_id`, which is accepted where it has exactly one of the identifiers. A configuration
 * that exists but is not covered by the token is a 403 (RFC 6750 §3.1, OID4VCI §8.3.1.1).
 */
export const checkConfiguration = async (
  session: RedeemedSession,
  selector: CredentialSelector,
  tenantId: string,
  configurations: Pick<CurrentConfigurations, 'find'>,
): Promise<CoveredRequest> => {
  if ('credentialIdentifier' in selector) {
    const { credentialIdentifier } = selector;
    const granted = session.authorizationDetails?.find(({ credentialIdentifiers }) =>
      credentialIdentifiers.includes(credentialIdentifier),
    );
    const configuration = granted && (await configurations.find(tenantId, granted.credentialConfigurationId));
    if (!configuration)
      throw refused(
        'unknown_credential_identifier',
        'credential_identifier is not one that the token response returned',
      );
    return { configuration, credentialIdentifier };
  }
  const { configurationId } = selector;
  const configuration = isUuid(configurationId) ? await configurations.find(tenantId, configurationId) : undefined;
  if (!configuration)
    throw refused(
      'unknown_credential_configuration',
      'credential_configuration_id is not a credential configuration of this issuer',
    );
  const identifiers = session.authorizationDetails?.flatMap((detail) =>
    detail.credentialConfigurationId === configurationId ? detail.credentialIdentifiers : [],
  );
  const [credentialIdentifier] = identifiers ?? [];
  if (identifiers && identifiers.length > 1)
    throw refused(
      'invalid_credential_request',
      `credential_identifier is required, because the token response returned several: ${named(identifiers)}`,
    );
  let isCovered = credentialIdentifier !== undefined;
  if (!identifiers)
    for (const covered of session.entries) isCovered ||= covered.credentialConfigurationId === configurationId;
  if (!isCovered) {
    const challenge = session.accessToken.jkt === undefined ? bearerChallenge : dpopChallenge;
    throw refused('insufficient_scope', NOT_COVERED, challenge('insufficient_scope', NOT_COVERED));
  }
  return { configuration, credentialIdentifier };
};

const named = (identifiers: readonly string[]): string => {
  const all = identifiers.join(', ');
  return all.length > MOST_NAMED ? `${all.slice(0, MOST_NAMED).toWellFormed()} and others` : all;
};

const refused = (code: OAuthErrorCode, description: string, headers?: Record<string, string>) =>
  oauthError(code, description, { check: 'check-configuration', ...(headers && { headers }) });
