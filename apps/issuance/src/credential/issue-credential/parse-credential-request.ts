import { BATCH_SIZE, CredentialRequest as Declared, MAX_PROOF_LENGTH, oauthError } from '@attestry/contracts';
import { parseResponseEncryption, type ResponseEncryption } from '../message-encryption/encryption-parameters.js';
import type { OpenedRequest } from '../message-encryption/message-encryption.js';
import { parseRequestObject } from '../message-encryption/request-object.js';
import { maxLengthsOf } from '../../reading/raw-request/check-lengths.js';
import { isObject } from '../../reading/raw-request/raw-request.js';

const MAX_LENGTHS = maxLengthsOf(Declared);

export type CredentialSelector = { configurationId: string } | { credentialIdentifier: string };

/** Key proofs, all of one type (OID4VCI 1.0 Appendix F). */
export interface RequestedProofs {
  type: 'jwt' | 'attestation';
  /** Compact JWS: 1 to {@link BATCH_SIZE}, one of type `attestation`. */
  jwts: readonly [string, ...string[]];
}

export interface CredentialRequest {
  selector: CredentialSelector;
  proofs: RequestedProofs;
  /** Absent: the response is plain JSON. */
  responseEncryption?: ResponseEncryption;
}

/**
 * OID4VCI §8.2. Unknown members are ignored.
 * @param byIdentifier whether the token response returned credential identifiers; without them none may be used
 */
export const parseCredentialRequest = (opened: OpenedRequest, byIdentifier: boolean): CredentialRequest => {
  const { isEncrypted, policy } = opened;
  const body = parseRequestObject(opened);
  const requested = body['credential_response_encryption'];
  const responseEncryption =
    requested !== undefined || policy.responseRequired
      ? parseResponseEncryption(requested, isEncrypted, policy)
      : undefined;
  const { proof, proofs } = body;
  // It is ambiguous which of them counts.
  if (proof !== undefined && proofs !== undefined) throw refused('proof and proofs must not both be sent');
  return {
    selector: selectorOf(body, byIdentifier),
    proofs: proofsOf(proof === undefined ? proofs : proofsOfDraft(proof)),
    ...(responseEncryption && { responseEncryption }),
  };
};

const selectorOf = (body: Record<string, unknown>, byIdentifier: boolean): CredentialSelector => {
  const configurationId = body['credential_configuration_id'];
  const credentialIdentifier = body['credential_identifier'];
  if ((configurationId === undefined) === (credentialIdentifier === undefined))
    throw refused('exactly one of credential_configuration_id and credential_identifier is required');
  // The error is that for any identifier that the token response did not return (OID4VCI §8.3.1.2).
  if (configurationId === undefined && !byIdentifier)
    throw oauthError(
      'unknown_credential_identifier',
      'credential_configuration_id is required, because the token response returned no credential identifiers',
      { check: 'parse-credential-request' },
    );
  const [member, value] =
    configurationId === undefined
      ? ['credential_identifier', credentialIdentifier]
      : ['credential_configuration_id', configurationId];
  if (typeof value !== 'string' || value === '') throw refused(`${member} must be a string`);
  const most = MAX_LENGTHS.get(member as string)!;
  if (value.length > most) throw refused(`${member} must have at most ${most} characters`);
  return configurationId === undefined ? { credentialIdentifier: value } : { configurationId: value };
};

/** `proofs`: an object with exactly one member (§8.2). */
const proofsOf = (proofs: unknown): RequestedProofs => {
  if (proofs === undefined) throw invalidProof('proofs is missing');
  if (!isObject(proofs)) throw refused('proofs must be an object');
  const [type, ...more] = Object.keys(proofs);
  if (type === undefined) throw invalidProof('proofs is empty');
  if (more.length) throw refused('proofs must have exactly one member');
  if (type !== 'jwt' && type !== 'attestation')
    throw invalidProof('the only supported proof types are jwt and attestation');
  const jwts = proofs[type];
  if (!Array.isArray(jwts)) throw refused(`proofs.${type} must be an array`);
  if (jwts.length === 0) throw invalidProof(`proofs.${type} is empty`);
  if (type === 'attestation' && jwts.length > 1) throw refused('proofs.attestation must have exactly one entry');
  if (jwts.length > BATCH_SIZE) throw refused(`proofs.jwt must have at most ${BATCH_SIZE} entries`);
  for (const jwt of jwts as unknown[]) {
    if (typeof jwt !== 'string' || jwt === '') throw refused(`proofs.${type} must be an array of non-empty strings`);
    if (jwt.length > MAX_PROOF_LENGTH) throw invalidProof(`a proof must have at most ${MAX_PROOF_LENGTH} characters`);
  }
  return { type, jwts: jwts as [string, ...string[]] };
};

/** The single `proof` of earlier drafts counts as `proofs.jwt` with one entry. */
const proofsOfDraft = (proof: unknown): { jwt: unknown[] } => {
  if (!isObject(proof)) throw refused('proof must be an object');
  if (proof['proof_type'] !== 'jwt') throw invalidProof('proof.proof_type must be jwt');
  const { jwt } = proof;
  if (typeof jwt !== 'string' || jwt === '') throw refused('proof.jwt must be a non-empty string');
  return { jwt: [jwt] };
};

const refused = (description: string) =>
  oauthError('invalid_credential_request', description, { check: 'parse-credential-request' });
const invalidProof = (description: string) =>
  oauthError('invalid_proof', description, { check: 'parse-credential-request' });
