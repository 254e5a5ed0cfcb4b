import type { ProofType } from '@attestry/contracts';
import { CREDENTIALS_V1, CREDENTIALS_V2, REVOCATION_LIST_2020_V1 } from '@attestry/linked-data';

interface Described {
  proofType?: ProofType;
  revocable?: boolean;
}

/** The data model's version follows from the proof (ADR 0060). */
export const isDataModel1 = ({ proofType }: Described): boolean => proofType === 'Ed25519Signature2018';

/** The first context of a credential. */
export const baseContextOf = (of: Described): string => (isDataModel1(of) ? CREDENTIALS_V1 : CREDENTIALS_V2);

/** All contexts of a credential; the data model 2.0 has the terms of its status itself. */
export const contextsOf = (of: Described, contextUrl: string, own: readonly { url: string }[]): string[] => {
  const ofStatus = of.revocable && isDataModel1(of) ? [REVOCATION_LIST_2020_V1] : [];
  return [...new Set([baseContextOf(of), contextUrl, ...ofStatus, ...own.map(({ url }) => url)])];
};
