import { oauthError, type CredentialProfile } from '@attestry/contracts';
import { ClaimFault as EncodingFault, type CwtFacts, type SigningInput } from '@attestry/cose';
import type { Signer } from '@attestry/keys';
import type { PinnedConfiguration } from '../settings/credential-configuration/credential-configuration.decisions.js';
import { mapClaims, mapKnownClaims, type UserObject } from './map-claims.js';
import { LIST_SIZE } from '../status-lists/status-list/packed-statuses.js';
import { byName, claimBeyondLimit, deniedClaim, faultOfEncoding, type ClaimFault } from './claim-faults.decisions.js';
import { claimsSizeFault } from './claims-size.decisions.js';
import { credentialTimes, TimesFault } from './credential-times.js';
import type { CwtContent } from './cwt-configuration.decisions.js';
import { claimOf, displayOf } from './display.decisions.js';
import type { FormatMetadata, PinnedFacts, Resources, UnsignedCredential } from './format.js';
import { PROOF_ALGORITHMS, proofTypesOf } from './proof-types.js';
import { addDuration } from '../settings/credential-configuration/validity.js';

type Cwt = PinnedConfiguration<CwtContent>;

export interface UnsignedCwtCredential extends UnsignedCredential {
  input: SigningInput;
}

export const cwtResources = (profile: CredentialProfile): Resources => ({
  signer: { kind: 'pinnedKey', algorithms: ['P-256'], method: 'web', member: 'issuer' },
  status: { kind: 'tokenStatusList', tokenType: 'cose', size: LIST_SIZE, revocationLists: profile },
  revocation: 'reversible',
});

/** @throws AppError credential_request_denied when a required claim has no value, or the claims are too large */
export const mapCwtClaims = ({ content }: Cwt, from: UserObject): Record<string, unknown> => {
  const claims = mapClaims(content.claimMappings, from);
  const fault = tooLarge(claims);
  if (fault) throw deniedClaim(CHECK, fault);
  return claims;
};

const tooLarge = (claims: Record<string, unknown>): ClaimFault | undefined =>
  claimsSizeFault(claims) === undefined ? undefined : claimBeyondLimit(claimsSizeFault, byName(claims));

/** @param encode throws the error of a claim that it cannot encode */
export const checkCwtClaims = (
  { content }: Cwt,
  from: UserObject,
  encode: (claims: Record<string, unknown>) => unknown,
): ClaimFault | undefined => {
  const known = mapKnownClaims(content.claimMappings, from);
  const fault = tooLarge(known);
  if (fault) return fault;
  const unencodable = encodingFault(() => encode(known));
  return unencodable && faultOfEncoding(unencodable);
};

/** The claim that cannot be encoded, if there is one. */
export const encodingFault = (encode: () => unknown): EncodingFault | undefined => {
  try {
    encode();
    return undefined;
  } catch (error) {
    if (error instanceof EncodingFault) return error;
    throw error;
  }
};

/**
 * @param encode with the facts that both formats share
 * @throws AppError credential_request_denied when the claims cannot be encoded
 */
export const prepareCwtCredential = <Content extends CwtContent>(
  { configuration, holder, time, credentialId, status }: PinnedFacts<Content>,
  encode: (shared: CwtFacts) => SigningInput,
): UnsignedCwtCredential => {
  const { content, issuerKey } = configuration;
  const { did, verificationMethod } = issuerKey;
  try {
    const validity = credentialTimes({
      issuedAt: time,
      ...(content.expiresIn && { validUntil: addDuration(time, content.expiresIn) }),
    });
    const keyFragment = verificationMethod.slice(verificationMethod.indexOf('#') + 1);
    const revocation = status?.revocationUri && { index: status.index, uri: status.revocationUri };
    const input = encode({
      ...{ issuer: did, keyFragment, subject: holder.did, credentialId, validity },
      ...(status && { status }),
      ...(revocation && { revocation }),
    });
    const { validFrom, validUntil } = validity;
    return { credentialId, holderKey: holder.publicJwk, validFrom, ...(validUntil && { validUntil }), input };
  } catch (error) {
    // Neither message contains a value of a claim.
    if (error instanceof EncodingFault) throw deniedClaim(CHECK, faultOfEncoding(error));
    if (error instanceof TimesFault) throw oauthError('credential_request_denied', error.message, { check: CHECK });
    throw error;
  }
};

export const signCwts = (credentials: readonly UnsignedCwtCredential[], signer: Signer): string[] =>
  credentials.map(({ input }) => input.assemble(signer.sign(input.toBeSigned)));

/**
 * @param named the member with the type
 * @param claimsAt path of the claims in a decoded credential
 */
export const cwtMetadataOf = ({ type, content }: Cwt, named: object, claimsAt: readonly string[]): FormatMetadata => {
  const display = displayOf(content.display, { name: type });
  const claims = Object.entries(content.claimMappings).map(([name, mapping]) => ({
    path: [...claimsAt, name],
    ...claimOf(mapping),
  }));
  const shared = { ...named, cryptographic_binding_methods_supported: ['did:key'] };
  return {
    supported: {
      ...shared,
      credential_signing_alg_values_supported: ['ES256'],
      proof_types_supported: proofTypesOf(content, PROOF_ALGORITHMS),
      credential_metadata: { display, ...(claims.length > 0 && { claims }) },
    },
    legacy: { ...shared, cryptographic_suites_supported: ['ES256'], display },
  };
};

const CHECK = 'formats/cwt-credential';
