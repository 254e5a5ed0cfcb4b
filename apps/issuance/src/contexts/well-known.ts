import { credentialsV1 } from './well-known/credentials-v1.js';
import { credentialsV2 } from './well-known/credentials-v2.js';
import { undefinedTermsV2 } from './well-known/credentials-undefined-terms-v2.js';

export const CREDENTIALS_V2 = 'https://www.w3.org/ns/credentials/v2';

/** Contexts that every verifier brings along; they are never fetched. */
export const WELL_KNOWN_CONTEXTS: ReadonlyMap<string, object> = new Map<string, object>([
  [CREDENTIALS_V2, credentialsV2],
  ['https://www.w3.org/2018/credentials/v1', credentialsV1],
  ['https://www.w3.org/ns/credentials/undefined-terms/v2', undefinedTermsV2],
]);
