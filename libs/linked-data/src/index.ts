export {
  canonicalHash,
  expandSafely,
  isJsonLdFault,
  UnknownContext,
  wellKnownLoader,
  type DocumentLoader,
} from './json-ld.js';
export {
  ED25519_SIGNATURE_2018,
  proofOptionsHash,
  signEd25519Signature2018,
  type ProofOptions,
  type Signable,
} from './ed25519-signature-2018.js';
export { CREDENTIALS_V1, CREDENTIALS_V2, DID_CONFIGURATION_V1, WELL_KNOWN_CONTEXTS } from './well-known.js';
