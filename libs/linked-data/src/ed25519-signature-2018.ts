import { canonicalHash, type DocumentLoader } from './json-ld.js';

export const ED25519_SIGNATURE_2018 = 'Ed25519Signature2018';

/** RFC 7797: the payload is not encoded, and every verifier must know that. */
const HEADER = Buffer.from(JSON.stringify({ alg: 'EdDSA', b64: false, crit: ['b64'] })).toString('base64url');

export interface ProofOptions {
  type: typeof ED25519_SIGNATURE_2018;
  /** RFC 3339. */
  created: string;
  /** DID URL. */
  verificationMethod: string;
  proofPurpose: 'assertionMethod';
}

/** The document says what it is in a context of the suite or in credentials v1, which defines its terms. */
export interface Signable {
  '@context': readonly string[];
}

/** Hash of the proof options, first part of what is signed. They are read by the document's own contexts, as verifiers do. */
export const proofOptionsHash = (document: Signable, options: ProofOptions, loader: DocumentLoader): Promise<Buffer> =>
  canonicalHash({ '@context': document['@context'], ...options }, loader);

/**
 * Linked Data Proofs with the suite Ed25519Signature2018: a detached JWS over hash of options and hash of document. The
 * same document, options and key always give the same proof.
 */
export const signEd25519Signature2018 = async <Document extends Signable>(
  document: Document,
  options: ProofOptions,
  /** Ed25519. */
  sign: (data: Uint8Array) => Uint8Array,
  loader: DocumentLoader,
  optionsHash: Promise<Buffer> = proofOptionsHash(document, options, loader),
): Promise<Document & { proof: ProofOptions & { jws: string } }> => {
  const [first, second] = await Promise.all([optionsHash, canonicalHash(document, loader)]);
  const signature = sign(Buffer.concat([Buffer.from(`${HEADER}.`), first, second]));
  return { ...document, proof: { ...options, jws: `${HEADER}..${Buffer.from(signature).toString('base64url')}` } };
};
