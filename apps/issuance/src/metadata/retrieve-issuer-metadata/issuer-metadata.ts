import { BATCH_SIZE, type OpenIdConfiguration, type VerifiedBrand } from '@attestry/contracts';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import type { Format } from '../../formats/format.js';
import { publishedMembers } from '../../issuer/published-size/published-members.js';
import {
  authorizationServerMetadata,
  type AuthorizationServerMetadata,
} from '../authorization-server-metadata/authorization-server-metadata.js';

export interface MetadataIssuer {
  /** Identifier of the requested host: the tenant's own, or its custom domain. */
  issuer: string;
  /** The tenant's own: its endpoints and its authorization server are there, whatever the issuer identifier is. */
  baseUrl: string;
  brand: VerifiedBrand;
  /** Name of the tenant. Absent while other services run a release that does not send it. */
  tenantName: string | undefined;
  settings: Pick<OpenIdConfiguration, 'profile' | 'displayName' | 'advertiseScopes'>;
}

/**
 * OID4VCI 1.0 §12.2.4: lists only what works (ADR 0060). `authorization_servers` names the tenant's own issuer, also where it is the credential
 * issuer: without it some wallets take these metadata for those of the authorization server.
 * The members for wallets of earlier drafts are left out of the profile `haip`, which no such wallet fulfils (ADR 0095).
 */
export const issuerMetadata = (
  { issuer, baseUrl, brand, tenantName, settings }: MetadataIssuer,
  configurations: readonly ActiveConfiguration[],
  formatOf: (configuration: ActiveConfiguration) => Format,
): Record<string, unknown> => {
  const { profile, displayName } = settings;
  const published = configurations.map((it) => ({ id: it.id, ...publishedMembers(it, formatOf(it)) }));
  return {
    credential_issuer: issuer,
    authorization_servers: [baseUrl],
    credential_endpoint: `${baseUrl}/v1/openid/credential`,
    deferred_credential_endpoint: `${baseUrl}/v1/openid/deferred-credential`,
    notification_endpoint: `${baseUrl}/v1/openid/notification`,
    nonce_endpoint: `${baseUrl}/v1/openid/nonce`,
    batch_credential_issuance: { batch_size: BATCH_SIZE },
    ...displayOf(displayName ?? brand.name ?? tenantName, brand),
    credential_configurations_supported: Object.fromEntries(
      published.map(({ id, supported }) => [id, profile === 'haip' ? withoutId(supported) : supported]),
    ),
    ...(profile === 'default' && {
      ...legacyMembers(authorizationServerMetadata(baseUrl, configurations, settings)),
      credentials_supported: published.map(({ legacy }) => legacy),
    }),
    mdoc_iacas_uri: `${baseUrl}/v1/openid/iacas`,
  };
};

/** OID4VCI 1.0 §12.2.4: the id of a configuration is the name of its member alone. */
const withoutId = ({ id: _, ...members }: Record<string, unknown>): Record<string, unknown> => members;

/** One entry without a language: an issuer has one name. */
const displayOf = (name: string | undefined, { logoUrl }: VerifiedBrand): { display?: object[] } =>
  name === undefined
    ? {}
    : { display: [{ name, ...(logoUrl !== undefined && { logo: { uri: logoUrl, alt_text: name } }) }] };

/** For wallets of earlier drafts, which read the authorization server's endpoints here. */
const legacyMembers = (metadata: AuthorizationServerMetadata) => ({
  issuer: metadata.issuer,
  authorization_endpoint: metadata.authorization_endpoint,
  pushed_authorization_request_endpoint: metadata.pushed_authorization_request_endpoint,
  token_endpoint: metadata.token_endpoint,
  jwks_uri: metadata.jwks_uri,
  ...(metadata.scopes_supported && { scopes_supported: metadata.scopes_supported }),
  response_types_supported: metadata.response_types_supported,
  response_modes_supported: metadata.response_modes_supported,
  grant_types_supported: metadata.grant_types_supported,
  code_challenge_methods_supported: metadata.code_challenge_methods_supported,
});
