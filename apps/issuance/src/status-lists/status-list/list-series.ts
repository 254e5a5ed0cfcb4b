import {
  retrieveIdentifierListToken,
  retrieveListCredential,
  retrieveMobileStatusListToken,
  retrieveStatusListToken,
  type CredentialProfile,
} from '@attestry/contracts';
import { issuerHost } from '../../settings/credential-configuration/configurations-under.js';
import type { StatusBits } from './packed-statuses.js';

/** Signer of the tokens of a list: a verifier that trusts the credentials of the list trusts it already (ADR 0077). */
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
      /** Alternative names of the IACA and of the document signer: signers with other names have other lists. */
      domains?: readonly string[];
    };

/** Under which all credentials of the list are issued: without one of them they are invalid (ADR 0081). */
export const hostsOf = (signer: ListSigner): string[] => {
  const of = (issuer = '') => issuerHost(issuer) ?? [];
  switch (signer.kind) {
    case 'issuerSigner':
      return distinct(of(signer.issuer), of(signer.did));
    case 'pinnedKey':
      return distinct(of(signer.verificationMethod.split('#', 1)[0]));
    case 'statusListSigner':
      return distinct(of(signer.issuer), ...(signer.domains ?? []));
  }
};
const distinct = (...hosts: (string | readonly string[])[]): string[] => [...new Set(hosts.flat())];

/**
 * How the list is signed and encoded: as JWT, as CWT, as CWT with the identifiers of mdocs (ADR 0082), or as a credential of the data model 1.1 or
 * 2.0. Another type of token is another member, with its signing in `sign-status-list.ts`.
 */
export type TokenType = 'jwt' | 'cose' | 'identifierList' | 'revocationList2020' | 'bitstring';

/** How a format publishes the status of its credentials. */
export interface StatusPolicy {
  /** A list that is a credential has the proof of those in it. */
  kind: 'tokenStatusList' | 'listCredential';
  tokenType: TokenType;
  /** Entries of a list. */
  size: number;
  /** Each list is also published as a revocation list of this profile, for verifiers that know no other. */
  revocationLists?: CredentialProfile;
}

/** Lists that follow each other: the first has the id of `firstListId`, and each names the next. */
export interface ListSeries {
  tokenType: TokenType;
  signer: ListSigner;
  /** Entries. */
  size: number;
  bits: StatusBits;
  /** See `StatusPolicy`. */
  revocationLists?: CredentialProfile;
}

/** Valid, invalid and suspended, which neither a list that is a credential nor a revocation list can express. */
const BITS = 2;

export const listSeries = (
  { kind, tokenType, size, revocationLists }: StatusPolicy,
  signer: ListSigner,
): ListSeries => ({
  tokenType,
  signer,
  size,
  bits: kind === 'listCredential' || revocationLists ? 1 : BITS,
  ...(revocationLists && { revocationLists }),
});

/** Credentials whose lists have the same name share them. */
export const seriesName = ({ tokenType, signer, revocationLists }: ListSeries): string =>
  [tokenType, nameOf(signer), revocationLists ?? []].flat().join(' ');

const nameOf = (signer: ListSigner): string => {
  switch (signer.kind) {
    case 'issuerSigner':
      return [signer.issuer, signer.did ?? []].flat().join(' ');
    case 'pinnedKey':
      return signer.verificationMethod;
    case 'statusListSigner':
      return [signer.issuer, signer.iacaId, signer.domains?.join() ?? [], signer.docType].flat().join(' ');
  }
};

const LIST_CREDENTIALS: readonly TokenType[] = ['revocationList2020', 'bitstring'];
export const isListCredential = (tokenType: TokenType): boolean => LIST_CREDENTIALS.includes(tokenType);

/** Token Status List; the others have the same statuses in another form. */
export const STATUS_LIST_TOKENS: readonly TokenType[] = ['jwt', 'cose'];

/** The operation that serves a list. */
export const retrievalOf = ({ tokenType, signer }: Pick<ListSeries, 'tokenType' | 'signer'>) => {
  if (isListCredential(tokenType)) return retrieveListCredential;
  if (tokenType === 'identifierList') return retrieveIdentifierListToken;
  return signer.kind === 'statusListSigner' ? retrieveMobileStatusListToken : retrieveStatusListToken;
};

/** Path of a list, below the tenant's own address. */
export const listPath = (series: ListSeries, listId: string): string =>
  retrievalOf(series).http!.path.replace(':id', listId);

/** Address of the revocation list, at the same host as `uri`. */
export const revocationListUri = (
  { uri, revocationLists }: Pick<ListSeries, 'revocationLists'> & { uri: string },
  listId: string,
): string | undefined =>
  revocationLists && `${new URL(uri).origin}/v2/credentials/${revocationLists}/revocation-lists/${listId}`;
