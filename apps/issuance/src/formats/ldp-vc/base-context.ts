import type { ProofType } from '@attestry/contracts';
import { CREDENTIALS_V1, CREDENTIALS_V2 } from '@attestry/linked-data';

/** The first context of a credential: the data model's version follows from the proof (ADR 0060). */
export const baseContextOf = ({ proofType }: { proofType?: ProofType }): string =>
  proofType === 'Ed25519Signature2018' ? CREDENTIALS_V1 : CREDENTIALS_V2;
