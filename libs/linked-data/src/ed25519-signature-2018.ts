export const ED25519_SIGNATURE_2018 = 'Ed25519Signature2018';

/** RFC 7797: the payload is not encoded, and every verifier must support that. */
const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', b64: false, crit: ['b64'] })).toString('base64url');

export interface ProofOptions {
  type: typeof ED25519_SIGNATURE_2018;
  /** RFC 3339. */
  created: string;
  /** DID URL. */
  verificationMethod: string;
  proofPurpose: 'assertionMethod';
}

/** The document names a context of the suite or credentials v1, which defines the suite's terms. */
export interface Signable {
  '@context': readonly string[];
}

/**
 * The proof options as they are hashed, the first part of the signing input: interpreted with the document's own contexts, as verifiers do.
 */
export const proofOptionsDocument = (document: Signable, options: object): object => ({
  '@context': document['@context'],
  ...options,
});

/**
 * Linked Data Proofs with the suite Ed25519Signature2018: a detached JWS over hash of options and hash of document. The
 * same document, options and key always give the same proof.
 */
export const signEd25519Signature2018 = <Document extends Signable>(
  document: Document,
  options: ProofOptions,
  /** Canonical hashes of {@link proofOptionsDocument} and of the document. */
  [optionsHash, documentHash]: readonly [Buffer, Buffer],
  /** Ed25519. */
  sign: (data: Uint8Array) => Uint8Array,
): Document & { proof: ProofOptions & { jws: string } } => {
  const signature = sign(Buffer.concat([Buffer.from(`${HEADER}.`), optionsHash, documentHash]));
  return { ...document, proof: { ...options, jws: `${HEADER}..${Buffer.from(signature).toString('base64url')}` } };
};
