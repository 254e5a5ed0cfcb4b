import { configurationOperations, OptionalEntries } from '../credential-configurations.js';
import { credentialDeletion } from '../credential-registry.js';
import { revocationOperations } from '../credential-status.js';
import { revocationListOperations } from '../status-lists.js';
import { CompactConfiguration, CompactConfigurationRequest } from './cwt.js';

export class CompactSemanticConfigurationRequest extends CompactConfigurationRequest {
  /** URLs of further JSON-LD contexts of the credentials, beside that of the VC Data Model 1.1. They are not fetched. */
  @OptionalEntries(10) contexts?: string[];
}

export class CompactSemanticConfiguration extends CompactConfiguration {
  contexts: string[];
}

export const compactSemanticConfigurations = configurationOperations({
  profile: 'compact-semantic',
  prefix: 'CREDENTIAL_COMPACT_SEMANTIC_CREDENTIAL_CONFIGURATION',
  since: 'v2.1.0',
  request: CompactSemanticConfigurationRequest,
  configuration: CompactSemanticConfiguration,
  example: {
    type: 'UniversityDiploma',
    contexts: ['https://university.example/contexts/diploma/v1'],
    claimMappings: { given_name: { mapFrom: 'claims.given_name' } },
  },
});

export const compactSemanticRegistry = {
  delete: credentialDeletion({ profile: 'compact-semantic', prefix: 'CREDENTIAL_COMPACT_SEMANTIC' }),
};

export const compactSemanticRevocationLists = revocationListOperations({
  profile: 'compact-semantic',
  prefix: 'CREDENTIAL_COMPACT_SEMANTIC',
});

export const compactSemanticRevocation = revocationOperations({
  profile: 'compact-semantic',
  prefix: 'CREDENTIAL_COMPACT_SEMANTIC_REVOCATION',
});
