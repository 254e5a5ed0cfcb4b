import { credentialsV1 } from './contexts/credentials-v1.js';
import { credentialsV2 } from './contexts/credentials-v2.js';
import { undefinedTermsV2 } from './contexts/credentials-undefined-terms-v2.js';
import { dataIntegrityV2 } from './contexts/data-integrity-v2.js';
import { didConfigurationV1 } from './contexts/did-configuration-v1.js';
import { platformContext } from './platform-context.js';

export const CREDENTIALS_V1 = 'https://www.w3.org/2018/credentials/v1';
export const CREDENTIALS_V2 = 'https://www.w3.org/ns/credentials/v2';
/** Defines `DataIntegrityProof` for documents whose other contexts do not. */
export const DATA_INTEGRITY_V2 = 'https://w3id.org/security/data-integrity/v2';
export const DID_CONFIGURATION_V1 = 'https://identity.foundation/.well-known/did-configuration/v1';

/** Contexts that every verifier has; they are never fetched. */
export const WELL_KNOWN_CONTEXTS: ReadonlyMap<string, object> = new Map<string, object>([
  [CREDENTIALS_V2, credentialsV2],
  [CREDENTIALS_V1, credentialsV1],
  ['https://www.w3.org/ns/credentials/undefined-terms/v2', undefinedTermsV2],
  [DATA_INTEGRITY_V2, dataIntegrityV2],
  [DID_CONFIGURATION_V1, didConfigurationV1],
]);

/** Contexts that are the same for every tenant of a platform, by address: the well-known ones and its own at `CONTEXT_URL`. */
export const sharedContexts = (contextUrl: string): ReadonlyMap<string, object> =>
  new Map([...WELL_KNOWN_CONTEXTS, [contextUrl, platformContext(contextUrl)]]);
