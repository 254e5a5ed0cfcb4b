import { CIPHERSUITES, deriveProof, sign } from '@digitalbazaar/bbs-signatures';

// Runs in a worker thread, from source too, where Node only strips types: no imports of other source files.

export interface BbsProofTask {
  /** 32 bytes, big-endian. Overwritten. */
  secretKey: Uint8Array;
  /** Compressed point of G2. */
  publicKey: Uint8Array;
  header: Uint8Array;
}

/** A BBS proof of a signature over the header and no messages (draft-irtf-cfrg-bbs-signatures §3.5). */
export default async ({ secretKey, publicKey, header }: BbsProofTask): Promise<Uint8Array> => {
  const signed = { publicKey, header, messages: [], ciphersuite: CIPHERSUITES.BLS12381_SHA256 };
  try {
    const signature = await sign({ ...signed, secretKey });
    const presentationHeader = new Uint8Array();
    return await deriveProof({ ...signed, signature, presentationHeader, disclosedMessageIndexes: [] });
  } finally {
    secretKey.fill(0);
  }
};
