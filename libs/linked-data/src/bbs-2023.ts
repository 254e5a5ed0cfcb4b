import { hash } from 'node:crypto';
import { encode, rfc8949EncodeOptions } from 'cborg';
import type { DataIntegrityOptions } from './data-integrity.js';
import { proofOptionsDocument, type Signable } from './ed25519-signature-2018.js';

export const BBS_2023 = 'bbs-2023';

/** Before the CBOR of a derived proof (VC-DI-BBS §3.3.6). */
const DERIVED_PROOF = Buffer.from([0xd9, 0x5d, 0x03]);

/**
 * The document with a derived proof of the cryptosuite bbs-2023 that discloses all of it (VC-DI-BBS §3.4.6): a base proof is for the holder
 * only. All statements are mandatory, which leaves no messages to the BBS signature; their hash is in its header. Like
 * {@link signDataIntegrity}, for a document that names a context which defines `DataIntegrityProof`.
 */
export const signBbs2023 = async <Document extends Signable>(
  document: Document,
  { created, verificationMethod }: Pick<DataIntegrityOptions, 'created' | 'verificationMethod'>,
  /** RDFC-1.0. */
  canonicalForm: (document: object) => Promise<string>,
  /** A BBS proof of a signature over this header and no messages. */
  prove: (header: Uint8Array) => Promise<Uint8Array>,
): Promise<Document & { proof: DataIntegrityOptions<typeof BBS_2023> & { proofValue: string } }> => {
  const options = {
    type: 'DataIntegrityProof',
    cryptosuite: BBS_2023,
    created,
    verificationMethod,
    proofPurpose: 'assertionMethod',
  } as const;
  const form = await canonicalForm(proofOptionsDocument(document, options));
  const statements = await canonicalForm(document);
  // Blank nodes are `_:b<n>`, the number by the label map. A base proof shuffles the numbers, which would hide nothing here.
  const labels = new Set(statements.match(/(?<=_:c14n)\d+/g));
  const labelMap = new Map([...labels].map((label) => [Number(label), Number(label)]));
  const mandatoryHash = hash('sha256', statements.replaceAll('_:c14n', '_:b'), 'buffer');
  const proof = await prove(Buffer.concat([hash('sha256', form, 'buffer'), mandatoryHash]));
  const mandatoryIndexes = [...statements.trimEnd().split('\n').keys()];
  const value = encode([proof, labelMap, mandatoryIndexes, [], new Uint8Array()], rfc8949EncodeOptions);
  const proofValue = `u${Buffer.concat([DERIVED_PROOF, value]).toString('base64url')}`;
  return { ...document, proof: { ...options, proofValue } };
};
