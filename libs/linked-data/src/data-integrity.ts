import { base58 } from '@scure/base';
import type { Signable } from './ed25519-signature-2018.js';

/** Both sign SHA-256 over the canonical proof options and the document, the second with a P-256 key (VC-DI-EDDSA §3.2, VC-DI-ECDSA §3.2). */
export type Cryptosuite = 'eddsa-rdfc-2022' | 'ecdsa-rdfc-2019';

export interface DataIntegrityOptions<Suite extends string = Cryptosuite> {
  type: 'DataIntegrityProof';
  cryptosuite: Suite;
  /** RFC 3339. */
  created: string;
  /** DID URL. */
  verificationMethod: string;
  proofPurpose: 'assertionMethod';
}

/** The document names a context that defines `DataIntegrityProof`: credentials v2 or data-integrity v2. */
export const signDataIntegrity = <Document extends Signable, Options extends DataIntegrityOptions>(
  document: Document,
  options: Options,
  /** Canonical hashes of the proof options and of the document, in this order (VC-DI-EDDSA §3.2.5, VC-DI-ECDSA §3.2.5). */
  hashes: readonly [Buffer, Buffer],
  /** Ed25519, or ECDSA as r and s without ASN.1. */
  sign: (data: Uint8Array) => Uint8Array,
): Document & { proof: Options & { proofValue: string } } => ({
  ...document,
  proof: { ...options, proofValue: `z${base58.encode(sign(Buffer.concat(hashes)))}` },
});
