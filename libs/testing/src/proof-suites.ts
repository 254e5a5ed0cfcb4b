import { createVerifyCryptosuite as bbs } from '@digitalbazaar/bbs-2023-cryptosuite';
import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { cryptosuite as ecdsa } from '@digitalbazaar/ecdsa-rdfc-2019-cryptosuite';
import { Ed25519Signature2018 } from '@digitalbazaar/ed25519-signature-2018';
import { cryptosuite as eddsa } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';

/** The suite of Digital Bazaar that verifies the proof of a document. */
export const suiteFor = ({ proof }: { proof?: unknown }): unknown => {
  const { type, cryptosuite } = proof as { type: string; cryptosuite?: string };
  if (type === 'Ed25519Signature2018') return new Ed25519Signature2018();
  if (cryptosuite === 'bbs-2023') return new DataIntegrityProof({ cryptosuite: bbs() });
  return new DataIntegrityProof({ cryptosuite: cryptosuite === 'ecdsa-rdfc-2019' ? ecdsa : eddsa });
};
