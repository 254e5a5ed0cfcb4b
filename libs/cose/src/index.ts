export type { CborValue } from './cbor.js';
export { ClaimFault } from './claim-fault.js';
export { KeyNotSupported, type EcPublicJwk } from './cose-key.js';
export {
  jsonClaims,
  prepareCwt,
  prepareRevocationList,
  prepareSemanticCwt,
  scalarClaims,
  type CwtClaims,
  type CwtFacts,
  type SemanticCwtClaims,
} from './cwt.js';
export { ELEMENT_TYPES, elementFault, parseDateTime, type ElementType } from './element-types.js';
export { prepareMdoc, type ElementDigest, type MdocElement, type PreparedMdoc, type UnsignedMdoc } from './mdoc.js';
export { standardElement, standardValueFault, type StandardElement } from './standard-elements.js';
export { isMdlDocType, longestMdocLifetimeDays, MDL_NAMESPACE, missingMdlElements } from './mdl.js';
export type { SigningInput } from './signing-input.js';
export type { IdentifierListEntry, StatusListEntry } from './status-reference.js';
export { claimsOfTypedCwt, prepareTypedCwt, type TypedCwt } from './typed-cwt.js';
