import { credentialsV1 } from './contexts/credentials-v1.js';
import { credentialsV2 } from './contexts/credentials-v2.js';
import { undefinedTermsV2 } from './contexts/credentials-undefined-terms-v2.js';
import { dataIntegrityV2 } from './contexts/data-integrity-v2.js';
import { didConfigurationV1 } from './contexts/did-configuration-v1.js';
import { revocationList2020V1 } from './contexts/revocation-list-2020-v1.js';
import { platformContext } from './platform-context.js';

export const CREDENTIALS_V1 = 'https://www.w3.org/2018/credentials/v1';
export const CREDENTIALS_V2 = 'https://www.w3.org/ns/credentials/v2';
/** Defines `DataIntegrityProof` for documents whose other contexts do not. */
export const DATA_INTEGRITY_V2 = 'https://w3id.org/security/data-integrity/v2';
export const DID_CONFIGURATION_V1 = 'https://identity.foundation/.well-known/did-configuration/v1';
/** In credentials of data model 1.1 with a status, and in their lists; credentials v2 has the terms of Bitstring Status List. */
export const REVOCATION_LIST_2020_V1 = 'https://w3id.org/vc-revocation-list-2020/v1';

/** Contexts that every verifier has; they are never fetched. */
export const WELL_KNOWN_CONTEXTS: ReadonlyMap<string, object> = new Map<string, object>([
  [CREDENTIALS_V2, credentialsV2],
  [CREDENTIALS_V1, credentialsV1],
  ['https://www.w3.org/ns/credentials/undefined-terms/v2', undefinedTermsV2],
  [DATA_INTEGRITY_V2, dataIntegrityV2],
  [DID_CONFIGURATION_V1, didConfigurationV1],
  [REVOCATION_LIST_2020_V1, revocationList2020V1],
]);

/** Contexts that are the same for every tenant of a platform, by address: the well-known ones and its own at `CONTEXT_URL`. */
export const sharedContexts = (contextUrl: string): ReadonlyMap<string, object> =>
  new Map([...WELL_KNOWN_CONTEXTS, [contextUrl, platformContext(contextUrl)]]);
