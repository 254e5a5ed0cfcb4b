import { BATCH_SIZE } from '@attestry/contracts';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { Format } from '../formats/format.js';
import { scopeFor } from '../protocol/scope.js';
import {
  authorizationServerMetadata,
  type AuthorizationServerMetadata,
} from '../protocol/authorization-server-metadata.js';

const BINDING_METHODS = ['did:key', 'did:jwk', 'jwk'];
const PROOF_ALGORITHMS = ['ES256', 'EdDSA'];

export interface IssuerAddresses {
  /** Of the requested host: the tenant's own, or its custom domain. */
  issuer: string;
  /** The tenant's own: its endpoints and its authorization server are there, whatever the issuer identifier is. */
  baseUrl: string;
}

/**
 * OID4VCI 1.0 §12.2.4: lists only what works (ADR 0060). Under a custom domain `authorization_servers` names the tenant's own issuer; where
 * both are the same it is omitted (§12.2.4).
 */
export const issuerMetadata = (
  { issuer, baseUrl }: IssuerAddresses,
  configurations: readonly ActiveConfiguration[],
  formatOf: (configuration: ActiveConfiguration) => Format,
): Record<string, unknown> => ({
  credential_issuer: issuer,
  ...(issuer !== baseUrl && { authorization_servers: [baseUrl] }),
  credential_endpoint: `${baseUrl}/v1/openid/credential`,
  nonce_endpoint: `${baseUrl}/v1/openid/nonce`,
  batch_credential_issuance: { batch_size: BATCH_SIZE },
  credential_configurations_supported: Object.fromEntries(
    configurations.map((configuration) => [configuration.id, supported(configuration, formatOf(configuration))]),
  ),
  ...legacyMembers(authorizationServerMetadata(baseUrl, configurations)),
  credentials_supported: configurations.map((configuration) => legacyEntry(configuration, formatOf(configuration))),
});

/** For wallets of earlier drafts, which read the authorization server's endpoints here. */
const legacyMembers = (metadata: AuthorizationServerMetadata) => ({
  issuer: metadata.issuer,
  authorization_endpoint: metadata.authorization_endpoint,
  token_endpoint: metadata.token_endpoint,
  jwks_uri: metadata.jwks_uri,
  scopes_supported: metadata.scopes_supported,
  response_types_supported: metadata.response_types_supported,
  response_modes_supported: metadata.response_modes_supported,
  grant_types_supported: metadata.grant_types_supported,
  code_challenge_methods_supported: metadata.code_challenge_methods_supported,
});

const supported = (configuration: ActiveConfiguration, format: Format): Record<string, unknown> => ({
  format: format.format,
  id: configuration.id,
  scope: scopeFor(configuration),
  ...format.typeMember(configuration),
  cryptographic_binding_methods_supported: BINDING_METHODS,
  credential_signing_alg_values_supported: format.signingAlgorithms(configuration),
  proof_types_supported: { jwt: { proof_signing_alg_values_supported: PROOF_ALGORITHMS } },
  credential_metadata: { display: [displayOf(configuration)], ...claimsOf(configuration, format) },
});

const displayOf = ({ content }: ActiveConfiguration): Record<string, unknown> => {
  const { name, description, issuer, credentialBranding: branding } = content;
  return {
    name,
    ...(issuer.logoUrl !== undefined && { logo: { uri: issuer.logoUrl, alt_text: issuer.name } }),
    ...(description !== undefined && { description }),
    ...(branding?.backgroundColor !== undefined && { background_color: branding.backgroundColor }),
    ...(branding?.watermarkImageUrl !== undefined && { background_image: { uri: branding.watermarkImageUrl } }),
  };
};

/** Non-empty when present (Appendix B.2). */
const claimsOf = ({ content }: ActiveConfiguration, format: Format): { claims?: object[] } => {
  const mappings = Object.entries(content.claimMappings);
  if (!mappings.length) return {};
  return {
    claims: mappings.map(([name, { required }]) => ({ path: format.claimPath(name), mandatory: required === true })),
  };
};

const legacyEntry = (configuration: ActiveConfiguration, format: Format): Record<string, unknown> => ({
  format: format.format,
  id: configuration.id,
  scope: scopeFor(configuration),
  ...(format.typeMember(configuration)['credential_definition'] as object),
  cryptographic_binding_methods_supported: BINDING_METHODS,
  cryptographic_suites_supported: format.signingAlgorithms(configuration),
});
