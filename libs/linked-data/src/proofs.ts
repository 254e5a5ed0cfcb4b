import { signDataIntegrity, type Cryptosuite, type DataIntegrityOptions } from './data-integrity.js';
import {
  ED25519_SIGNATURE_2018,
  signEd25519Signature2018,
  type ProofOptions,
  type Signable,
} from './ed25519-signature-2018.js';

/** A cryptosuite of Data Integrity, or the suite that earlier verifiers support. */
export type ProofSuite = Cryptosuite | typeof ED25519_SIGNATURE_2018;
export type UnsignedProof = ProofOptions | DataIntegrityOptions;

/**
 * @param created RFC 3339
 * @param verificationMethod DID URL
 */
export const proofOptions = (suite: ProofSuite, created: string, verificationMethod: string): UnsignedProof => {
  const common = { created, verificationMethod, proofPurpose: 'assertionMethod' } as const;
  return suite === ED25519_SIGNATURE_2018
    ? { type: suite, ...common }
    : { type: 'DataIntegrityProof', cryptosuite: suite, ...common };
};

/** The document with its proof, by the suite of the options. */
export const signProof = <Document extends Signable>(
  document: Document,
  options: UnsignedProof,
  /** Canonical hashes of `proofOptionsDocument` and of the document. */
  hashes: readonly [Buffer, Buffer],
  /** Ed25519, or ECDSA as r and s without ASN.1. */
  sign: (data: Uint8Array) => Uint8Array,
): Document & { proof: UnsignedProof & ({ jws: string } | { proofValue: string }) } =>
  options.type === ED25519_SIGNATURE_2018
    ? signEd25519Signature2018(document, options, hashes, sign)
    : signDataIntegrity(document, options, hashes, sign);
