export { BBS_2023, signBbs2023 } from './bbs-2023.js';
export {
  Canonicalization,
  CanonicalizationTooLong,
  DocumentFault,
  type CanonicalizationOptions,
} from './canonicalization.js';
export {
  hasNestedArray,
  mayHaveSet,
  type ClaimsResult,
  type ContextLimits,
  type ContextResult,
} from './canonicalize.worker.js';
export { ED25519_SIGNATURE_2018, proofOptionsDocument, type Signable } from './ed25519-signature-2018.js';
export { proofOptions, signProof, type ProofSuite, type UnsignedProof } from './proofs.js';
export {
  CREDENTIALS_V1,
  CREDENTIALS_V2,
  DATA_INTEGRITY_V2,
  DID_CONFIGURATION_V1,
  REVOCATION_LIST_2020_V1,
  sharedContexts,
  WELL_KNOWN_CONTEXTS,
} from './well-known.js';
