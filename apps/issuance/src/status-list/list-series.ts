import { retrieveListCredential, retrieveStatusListToken } from '@attestry/contracts';
import type { StatusBits } from './packed-statuses.js';

/** Whose key signs the tokens of a list: a verifier that trusts the credentials of the list trusts it already (ADR 0077). */
export type ListSigner =
  | {
      /** The certified key of a credential issuer identifier, with its certificate in `x5c`. */
      kind: 'issuerSigner';
      issuer: string;
    }
  | {
      /** The key of a DID that signs the credentials too. */
      kind: 'pinnedKey';
      keyId: string;
      /** DID URL. */
      verificationMethod: string;
    };

/**
 * How the list is signed and encoded: as JWT, as CWT, or as a credential of the data model 1.1 or 2.0. Another type of token is another member,
 * with its signing in `sign-status-list.ts`.
 */
export type TokenType = 'jwt' | 'cose' | 'revocationList2020' | 'bitstring';

/** How a format publishes the status of its credentials. */
export interface StatusPolicy {
  /** A list that is a credential has the proof of those in it. */
  kind: 'tokenStatusList' | 'listCredential';
  tokenType: TokenType;
  /** Entries of a list. */
  size: number;
}

/** Lists that follow each other: the first has the id of `firstListId`, and each names the next. */
export interface ListSeries {
  tokenType: TokenType;
  signer: ListSigner;
  /** Entries. */
  size: number;
  bits: StatusBits;
}

/** Valid, invalid and suspended; the credentials of a list that is a credential cannot be suspended. */
const BITS = { tokenStatusList: 2, listCredential: 1 } as const;

export const listSeries = ({ kind, tokenType, size }: StatusPolicy, signer: ListSigner): ListSeries => ({
  tokenType,
  signer,
  size,
  bits: BITS[kind],
});

/** Credentials whose lists have the same name share them. */
export const seriesName = ({ tokenType, signer }: ListSeries): string =>
  `${tokenType} ${signer.kind === 'issuerSigner' ? signer.issuer : signer.verificationMethod}`;

export const isListCredential = (tokenType: TokenType): boolean =>
  tokenType === 'revocationList2020' || tokenType === 'bitstring';

/** Path of a list, below the tenant's own address. */
export const listPath = ({ tokenType }: ListSeries, listId: string): string => {
  const { path } = (isListCredential(tokenType) ? retrieveListCredential : retrieveStatusListToken).http!;
  return path.replace(':id', listId);
};
