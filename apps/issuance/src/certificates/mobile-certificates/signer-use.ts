import {
  createStatusListSigner,
  deleteStatusListSigner,
  listStatusListSigners,
  retrieveStatusListSigner,
  updateStatusListSigner,
  type CallContext,
} from '@attestry/contracts';
import type { SignerUse } from './signer.decisions.js';

const OF_STATUS_LISTS: ReadonlySet<string> = new Set(
  [
    createStatusListSigner,
    listStatusListSigners,
    retrieveStatusListSigner,
    updateStatusListSigner,
    deleteStatusListSigner,
  ].map(({ name }) => name),
);

/** The handlers of document signers are those of status list signers too. */
export const signerUseOf = ({ operation }: Pick<CallContext, 'operation'>): SignerUse =>
  OF_STATUS_LISTS.has(operation) ? 'status list' : 'document';
