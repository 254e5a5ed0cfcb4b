import type { ActiveConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import { claimOf, displayDefaults, displayOf } from './display.decisions.js';
import type { FormatMetadata } from './format.js';
import { PROOF_ALGORITHMS, proofTypesOf } from './proof-types.js';
import type { VcContent } from './vc-configuration.decisions.js';

type VcConfiguration = ActiveConfiguration<VcContent>;

const BINDING_METHODS = ['did:key', 'did:jwk', 'jwk'];

export const typesOf = ({ type, content }: Pick<VcConfiguration, 'type' | 'content'>): string[] => [
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
): FormatMetadata => {
  const { content } = configuration;
  const display = displayOf(content.display, displayDefaults(content));
  const mappings = Object.entries(content.claimMappings);
  const binding = { cryptographic_binding_methods_supported: BINDING_METHODS };
  return {
    supported: {
      credential_definition: definition,
      ...binding,
      credential_signing_alg_values_supported: signingAlgorithms,
      proof_types_supported: proofTypesOf(content, PROOF_ALGORITHMS),
      credential_metadata: {
        display,
        // Non-empty when present (Appendix B.2).
        ...(mappings.length > 0 && {
          claims: mappings.map(([name, mapping]) => ({ path: ['credentialSubject', name], ...claimOf(mapping) })),
        }),
      },
    },
    legacy: {
      ...definition,
      credentialSubject: Object.fromEntries(mappings.map(([name, mapping]) => [name, claimOf(mapping)])),
      ...binding,
      cryptographic_suites_supported: signingAlgorithms,
      display,
    },
  };
};
