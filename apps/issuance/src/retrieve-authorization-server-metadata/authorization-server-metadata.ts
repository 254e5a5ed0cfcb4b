import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { PRE_AUTHORIZED_GRANT } from '../create-pre-authorized-offer/offer-document.js';
import { scopeFor } from '../protocol/scope.js';

export interface AuthorizationServerMetadata {
  issuer: string;
  token_endpoint: string;
  jwks_uri: string;
  scopes_supported: string[];
  response_types_supported: string[];
  grant_types_supported: string[];
  token_endpoint_auth_methods_supported: string[];
  'pre-authorized_grant_anonymous_access_supported': true;
  authorization_details_types_supported: string[];
}

/**
 * RFC 8414 §2, OID4VCI §12.3. `response_types_supported` is required there and empty: without an authorization endpoint
 * there is no response type.
 */
export const authorizationServerMetadata = (
  issuer: string,
  configurations: readonly ActiveConfiguration[],
): AuthorizationServerMetadata => ({
  issuer,
  token_endpoint: `${issuer}/v1/oauth/token`,
  jwks_uri: `${issuer}/v1/oauth/jwks`,
  scopes_supported: [...new Set(configurations.map(scopeFor))],
  response_types_supported: [],
  grant_types_supported: [PRE_AUTHORIZED_GRANT],
  token_endpoint_auth_methods_supported: ['none'],
  'pre-authorized_grant_anonymous_access_supported': true,
  authorization_details_types_supported: ['openid_credential'],
});
