import type { StatusBits } from './packed-statuses.js';

/** Whose key signs the tokens of a list: a verifier that trusts the credentials of the list trusts it already (ADR 0077). */
export type ListSigner =
  | {
      /** The certified key of a credential issuer identifier, with its certificate in `x5c`. */
      kind: 'issuerSigner';
      issuer: string;
      /** The did:web of the configurations, where it is under another domain. */
      did?: string;
    }
  | {
      /** The key of a DID that signs the credentials too. */
      kind: 'pinnedKey';
      keyId: string;
      /** DID URL. */
      verificationMethod: string;
    }
  | {
      /** The status list signer of the IACA that certifies the document signers, with its certificate in `x5chain` (ADR 0078). */
      kind: 'statusListSigner';
      /** Credential issuer identifier: the credentials of a list have one issuer. */
      issuer: string;
      iacaId: string;
      /** Its configuration has the durations of the tokens. */
      docType: string;
      /** Alternative name of the IACA. */
      domain?: string;
    };

/** Credential issuer identifier or DID under whose domain the credentials of the list are issued: all of them are under the same (ADR 0081). */
export const issuerOf = (signer: ListSigner): string => {
  switch (signer.kind) {
    case 'issuerSigner':
      return signer.did ?? signer.issuer;
    case 'pinnedKey':
      return signer.verificationMethod.split('#', 1)[0]!;
    case 'statusListSigner':
      return signer.domain === undefined ? signer.issuer : `https://${signer.domain}`;
  }
};

/** How the list is signed and encoded: as JWT or as CWT. Another type of token is another member, with its signing in `sign-status-list.ts`. */
export type TokenType = 'jwt' | 'cose';

/** How a format publishes the status of its credentials. */
export interface StatusPolicy {
  kind: 'tokenStatusList';
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

/** Valid, invalid and suspended. */
const BITS = 2;

export const listSeries = ({ tokenType, size }: StatusPolicy, signer: ListSigner): ListSeries => ({
  tokenType,
  signer,
  size,
  bits: BITS,
});

/** Credentials whose lists have the same name share them. */
export const seriesName = ({ tokenType, signer }: ListSeries): string => `${tokenType} ${nameOf(signer)}`;
const nameOf = (signer: ListSigner): string => {
  switch (signer.kind) {
    case 'issuerSigner':
      return [signer.issuer, signer.did ?? []].flat().join(' ');
    case 'pinnedKey':
      return signer.verificationMethod;
    case 'statusListSigner':
      return `${signer.issuer} ${signer.iacaId} ${signer.docType}`;
  }
};

/** Where the lists are, below the address of the tenant. */
export const listsPath = ({ kind }: ListSigner): string =>
  `/v2/credentials/${kind === 'statusListSigner' ? 'mobile/' : ''}status-lists`;
