import type { KeyRequirements } from '@attestry/contracts';

/** Algorithms of key proofs (OID4VCI 1.0 Appendix F.1), best first, with the curve of their keys. */
export const CURVE_OF = { ES256: 'P-256', EdDSA: 'Ed25519' } as const;
export type ProofAlgorithm = keyof typeof CURVE_OF;
export const PROOF_ALGORITHMS = Object.keys(CURVE_OF) as ProofAlgorithm[];

/** `proof_types_supported` of a configuration (OID4VCI 1.0 §12.2.4). @param algorithms of proofs that a key of the holder makes */
export const proofTypesOf = (
  { keyAttestation }: KeyRequirements,
  algorithms: readonly ProofAlgorithm[],
): Record<string, unknown> => {
  const jwt = { proof_signing_alg_values_supported: algorithms };
  if (!keyAttestation) return { jwt };
  const { keyStorage, userAuthentication } = keyAttestation;
  const key_attestations_required = {
    ...(keyStorage && { key_storage: keyStorage }),
    ...(userAuthentication && { user_authentication: userAuthentication }),
  };
  return {
    jwt: { ...jwt, key_attestations_required },
    attestation: { proof_signing_alg_values_supported: ['ES256'], key_attestations_required },
  };
};
