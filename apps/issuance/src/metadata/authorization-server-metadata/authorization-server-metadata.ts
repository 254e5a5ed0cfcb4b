import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import {
  AUTHORIZATION_CODE_GRANT,
  PRE_AUTHORIZED_GRANT,
  REFRESH_TOKEN_GRANT,
} from '../../sessions/offer-document/offer-document.js';
import type { OpenIdConfiguration } from '@attestry/contracts';
import { scopeFor } from '../../settings/credential-configuration/scope.js';

export interface AuthorizationServerMetadata {
  issuer: string;
  authorization_endpoint: string;
  pushed_authorization_request_endpoint: string;
  require_pushed_authorization_requests: boolean;
  token_endpoint: string;
  revocation_endpoint: string;
  jwks_uri: string;
  /** Absent where the tenant does not advertise them (RFC 8414 §2: an authorization server may leave them out). */
  scopes_supported?: string[];
  response_types_supported: string[];
  response_modes_supported: string[];
  code_challenge_methods_supported: string[];
  grant_types_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  revocation_endpoint_auth_methods_supported: string[];
  challenge_endpoint: string;
  client_attestation_signing_alg_values_supported: string[];
  client_attestation_pop_signing_alg_values_supported: string[];
  dpop_signing_alg_values_supported: string[];
  'pre-authorized_grant_anonymous_access_supported': boolean;
  /** Absent where `scope` selects the credentials. */
  authorization_details_types_supported?: string[];
  authorization_response_iss_parameter_supported: true;
}

/** Methods of the token and the revocation endpoint. */
const authMethodsOf = (profile: OpenIdConfiguration['profile'] | undefined): string[] => [
  ...(profile === 'haip' ? [] : ['none']),
  'attest_jwt_client_auth',
  'attest_jwt_client_auth_dpop',
];

/** RFC 8414 §2, RFC 9126 §5, RFC 9207 §3, RFC 9449 §5.1, OID4VCI §12.3. */
export const authorizationServerMetadata = (
  issuer: string,
  configurations: readonly ActiveConfiguration[],
  { requirePushedAuthorizationRequests, profile, advertiseScopes }: Partial<OpenIdConfiguration> = {},
): AuthorizationServerMetadata => ({
  issuer,
  authorization_endpoint: `${issuer}/v1/oauth/authorize`,
  pushed_authorization_request_endpoint: `${issuer}/v1/oauth/par`,
  require_pushed_authorization_requests: requirePushedAuthorizationRequests === true,
  token_endpoint: `${issuer}/v1/oauth/token`,
  revocation_endpoint: `${issuer}/v1/oauth/revoke`,
  jwks_uri: `${issuer}/v1/oauth/jwks`,
  ...(advertiseScopes !== false && { scopes_supported: [...new Set(configurations.map(scopeFor))] }),
  response_types_supported: ['code'],
  response_modes_supported: ['query'],
  code_challenge_methods_supported: ['S256'],
  grant_types_supported: [
    AUTHORIZATION_CODE_GRANT,
    ...(profile === 'haip' ? [] : [PRE_AUTHORIZED_GRANT]),
    REFRESH_TOKEN_GRANT,
  ],
  token_endpoint_auth_methods_supported: authMethodsOf(profile),
  revocation_endpoint_auth_methods_supported: authMethodsOf(profile),
  challenge_endpoint: `${issuer}/v1/oauth/challenge`,
  client_attestation_signing_alg_values_supported: ['ES256'],
  client_attestation_pop_signing_alg_values_supported: ['ES256'],
  dpop_signing_alg_values_supported: ['ES256'],
  'pre-authorized_grant_anonymous_access_supported': profile !== 'haip',
  ...(profile !== 'haip' && { authorization_details_types_supported: ['openid_credential'] }),
  authorization_response_iss_parameter_supported: true,
});
