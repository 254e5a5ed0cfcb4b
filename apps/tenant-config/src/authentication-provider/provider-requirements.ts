import type { TokenEndpointAuthMethod } from '@attestry/contracts';
import { PROVIDER_SIGNATURES } from '@attestry/service-kit';

/** How the client of a tenant would be used. */
export interface IntendedClient {
  tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  /** Without one, and without a key, only `client_id` is sent. */
  hasSecret: boolean;
}

interface Rule {
  member: string;
  /** Values that are supported here. */
  supported: readonly string[];
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

/**
 * The member of a discovery document that this platform cannot satisfy, so that every sign-in would fail; as an error message for the tenant.
 * Absent members exclude nothing: their defaults are often not what a provider does.
 */
export const exclusionOf = (
  document: Record<string, unknown>,
  { tokenEndpointAuthMethod, hasSecret }: IntendedClient,
): string | undefined => {
  // Without the keys no ID token can be verified (OpenID Connect Discovery 1.0 §3).
  if (isAbsent(document['jwks_uri'])) return 'the discovery document has no jwks_uri';
  const isByKey = tokenEndpointAuthMethod === 'private_key_jwt';
  const rules: Rule[] = [
    // RFC 7636 §4.2
    { member: 'code_challenge_methods_supported', supported: ['S256'] },
    { member: 'id_token_signing_alg_values_supported', supported: PROVIDER_SIGNATURES },
    { member: 'response_modes_supported', supported: ['query'] },
    {
      member: 'token_endpoint_auth_methods_supported',
      supported: hasSecret || isByKey ? [tokenEndpointAuthMethod] : [tokenEndpointAuthMethod, 'none'],
    },
    ...(isByKey ? [{ member: 'token_endpoint_auth_signing_alg_values_supported', supported: ['ES256'] }] : []),
  ];
  for (const { member, supported } of rules) {
    const { [member]: offered } = document;
    if (isAbsent(offered)) continue;
    if (!(Array.isArray(offered) && supported.some((one) => offered.includes(one))))
      return `${member} in the discovery document must contain ${oneOf(supported)}`;
  }
  // RFC 9126 §5: the client's credentials are sent to the origin of the token endpoint only.
  if (document['require_pushed_authorization_requests'] === true && pushEndpointOf(document) === undefined)
    return 'pushed_authorization_request_endpoint in the discovery document must have the origin of token_endpoint, because it requires pushed requests';
  // RFC 9101 §10.5
  if (document['require_signed_request_object'] === true)
    return 'require_signed_request_object in the discovery document must not be true: requests are not signed';
  return undefined;
};

/** Endpoint of pushed authorization requests, if it has the origin of the token endpoint, which is pinned (ADR 0050). */
export const pushEndpointOf = (document: Record<string, unknown>): string | undefined => {
  const { pushed_authorization_request_endpoint: endpoint, token_endpoint: token } = document;
  const isUsable =
    typeof endpoint === 'string' &&
    URL.canParse(endpoint) &&
    new URL(endpoint).origin === new URL(String(token)).origin;
  return isUsable ? endpoint : undefined;
};

const oneOf = (names: readonly string[]): string => (names.length === 1 ? names[0]! : `one of: ${names.join(', ')}`);
