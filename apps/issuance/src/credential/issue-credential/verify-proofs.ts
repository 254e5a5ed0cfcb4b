import { BATCH_SIZE, oauthError, type KeyRequirements } from '@attestry/contracts';
import { jwkThumbprint, type Macs } from '@attestry/keys';
import { CURVE_OF, type ProofAlgorithm } from '../../formats/proof-types.js';
import type { KnownNonce } from '../../wallets/nonce/nonce.js';
import { checkDistinctKeys } from './check-distinct-keys.js';
import { checkNonce } from './check-nonce.js';
import type { HolderKey } from './holder-key.js';
import type { RequestedProofs } from './parse-credential-request.js';
import { verifyJwtProof, type ProofExpectations, type VerifiedProof } from './verify-jwt-proof.js';
import { KeyAttestations, type KeyAttestation } from './verify-key-attestation.js';

export interface VerifiedProofs {
  /** One credential for each: distinct keys, 1 to {@link BATCH_SIZE}. */
  holders: readonly HolderKey[];
  /** To be spent. */
  nonces: readonly KnownNonce[];
}

type Expected = Pick<ProofExpectations, 'issuer' | 'isOtherName' | 'clientId' | 'now' | 'windowSeconds'> & {
  tenantId: string;
  /** Announced as `proof_signing_alg_values_supported`. */
  algorithms: readonly ProofAlgorithm[];
};

/**
 * The key proofs of a credential request, of either type (OID4VCI 1.0 Appendix F).
 * @param required of the credential configuration
 * @throws AppError `invalid_proof`, `invalid_nonce`
 */
export const verifyProofs = async (
  { type, jwts }: RequestedProofs,
  { keyAttestation, proofRootCertificates }: KeyRequirements,
  { tenantId, algorithms, ...expected }: Expected,
  macs: Macs,
): Promise<VerifiedProofs> => {
  const { now } = expected;
  const attestations = keyAttestation && new KeyAttestations(keyAttestation, now);
  const attested: KeyAttestation[] = [];
  const proofs: VerifiedProof[] = [];
  const nonces: string[] = [];
  if (type === 'attestation') {
    if (!attestations) throw invalidProof(TAKES_PLAIN_PROOFS);
    attested.push(await attestations.verify(jwts[0], 'proof'));
  } else
    for (const jwt of jwts) {
      const proof = await verifyJwtProof(jwt, { ...expected, attestations, proofRootCertificates });
      proofs.push(proof);
      nonces.push(proof.nonce);
      if (proof.attestation) attested.push(proof.attestation);
    }
  if (proofs.length > 1) checkDistinctKeys(proofs);
  for (const { nonce } of attested) nonces.push(nonce);
  const holders: HolderKey[] = [];
  if (attested.length) holders.push(...attestedHolders(attested, proofs));
  else for (const { holder } of proofs) holders.push(holder);
  checkHolderKeys(holders, algorithms);
  return { holders, nonces: checkNonce(nonces, tenantId, now, macs) };
};

/** A credential for each attested key, whichever of them made a proof (Appendix F.1, F.3). */
const attestedHolders = (attested: readonly KeyAttestation[], proofs: readonly VerifiedProof[]): HolderKey[] => {
  const holders = new Map(attested.flatMap((attestation) => [...attestation.holders]));
  if (holders.size > BATCH_SIZE) throw invalidProof(`key attestations must have at most ${BATCH_SIZE} keys together`);
  // A proof may name its attested key by a DID, which the credential is then bound to.
  for (const { holder } of proofs) holders.set(jwkThumbprint(holder.publicJwk), holder);
  return [...holders.values()];
};

/** Keys that an attestation names beside those of the proofs are checked too. */
const checkHolderKeys = (holders: readonly HolderKey[], algorithms: readonly ProofAlgorithm[]): void => {
  for (const { publicJwk } of holders)
    if (!algorithms.includes(publicJwk.crv === 'P-256' ? 'ES256' : 'EdDSA')) {
      const accepted = algorithms.map((algorithm) => `a ${CURVE_OF[algorithm]} key (${algorithm})`).join(' or ');
      throw invalidProof(`proof: the key must be ${accepted} for this credential configuration`);
    }
};

const TAKES_PLAIN_PROOFS =
  'this credential configuration takes plain proofs: send proofs.jwt, or require key attestations with its keyAttestation';

const invalidProof = (description: string) => oauthError('invalid_proof', description, { check: 'verify-proofs' });
