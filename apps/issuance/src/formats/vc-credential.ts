import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import type { FormatMetadata } from './format.js';
import type { VcContent } from './vc-configuration.decisions.js';

type VcConfiguration = ActiveConfiguration<VcContent>;

const BINDING_METHODS = ['did:key', 'did:jwk', 'jwk'];
const PROOF_ALGORITHMS = ['ES256', 'EdDSA'];

export const typesOf = ({ type, content }: VcConfiguration): string[] => [
  'VerifiableCredential',
  type,
  ...content.additionalTypes,
];

/** Members that both versions of the data model share. */
export const describing = ({ content }: VcConfiguration): Record<string, unknown> => ({
  name: content.name,
  ...(content.description !== undefined && { description: content.description }),
  ...(content.credentialBranding && { credentialBranding: content.credentialBranding }),
});

/** `definition` is the member `credential_definition` (Appendix A.1). */
export const vcMetadataOf = (
  configuration: VcConfiguration,
  definition: Record<string, unknown>,
  signingAlgorithms: string[],
): FormatMetadata => ({
  supported: {
    credential_definition: definition,
    cryptographic_binding_methods_supported: BINDING_METHODS,
    credential_signing_alg_values_supported: signingAlgorithms,
    proof_types_supported: { jwt: { proof_signing_alg_values_supported: PROOF_ALGORITHMS } },
    credential_metadata: { display: [displayOf(configuration)], ...claimsOf(configuration) },
  },
  legacy: {
    ...definition,
    cryptographic_binding_methods_supported: BINDING_METHODS,
    cryptographic_suites_supported: signingAlgorithms,
  },
});

const displayOf = ({ content }: VcConfiguration): Record<string, unknown> => {
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
const claimsOf = ({ content }: VcConfiguration): { claims?: object[] } => {
  const mappings = Object.entries(content.claimMappings);
  if (!mappings.length) return {};
  return {
    claims: mappings.map(([name, { required }]) => ({
      path: ['credentialSubject', name],
      mandatory: required === true,
    })),
  };
};
