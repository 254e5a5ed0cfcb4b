import { CREDENTIALS_V1, CREDENTIALS_V2, REVOCATION_LIST_2020_V1 } from '@attestry/linked-data';
import { dateTime } from '../../settings/credential-configuration/validity.js';
import { gzipStatuses } from './compressed-statuses.js';
import type { StatusReference, UnsignedList } from './token-status-list.js';

/** A list with 1 bit for each credential: revoked or not. */
export interface UnsignedRevocationList extends UnsignedList {
  /** DID of the issuer of the credentials, which verifiers compare. */
  issuer: string;
  /** Seconds. */
  timeToLive: number;
}

/** `credentialStatus` in VC Data Model 2.0, Bitstring Status List §2.1. */
export const bitstringStatus = ({ uri, index }: StatusReference) => ({
  id: `${uri}#${index}`,
  type: 'BitstringStatusListEntry',
  statusPurpose: 'revocation',
  statusListIndex: String(index),
  statusListCredential: uri,
});

/** Without proof, Bitstring Status List §2.2. */
export const bitstringStatusListCredential = async (list: UnsignedRevocationList) => ({
  '@context': [CREDENTIALS_V2],
  id: list.uri,
  type: ['VerifiableCredential', 'BitstringStatusListCredential'],
  issuer: list.issuer,
  validFrom: dateTime(list.issuedAt),
  validUntil: dateTime(list.expiresAt),
  credentialSubject: {
    id: `${list.uri}#list`,
    type: 'BitstringStatusList',
    statusPurpose: 'revocation',
    // Milliseconds.
    ttl: list.timeToLive * 1000,
    // Multibase: `u` is base64url without padding.
    encodedList: `u${(await compressedBitstring(list.statuses)).toString('base64url')}`,
  },
});

/** `credentialStatus` in VC Data Model 1.1, RevocationList2020. */
export const revocationList2020Status = ({ uri, index }: StatusReference) => ({
  id: `${uri}#${index}`,
  type: 'RevocationList2020Status',
  revocationListIndex: String(index),
  revocationListCredential: uri,
});

/** Without proof, RevocationList2020, whose text says ZLIB: its example and the libraries have GZIP. */
export const revocationList2020Credential = async (list: UnsignedRevocationList) => ({
  '@context': [CREDENTIALS_V1, REVOCATION_LIST_2020_V1],
  id: list.uri,
  type: ['VerifiableCredential', 'RevocationList2020Credential'],
  issuer: list.issuer,
  issuanceDate: dateTime(list.issuedAt),
  expirationDate: dateTime(list.expiresAt),
  credentialSubject: {
    id: `${list.uri}#list`,
    type: 'RevocationList2020',
    encodedList: (await compressedBitstring(list.statuses)).toString('base64url'),
  },
});

/** GZIP of the bitstring with index 0 as its left-most bit, from packed statuses of 1 bit: Bitstring Status List §7.1. */
export const compressedBitstring = (statuses: Uint8Array): Promise<Buffer> =>
  gzipStatuses(statuses.map((byte) => REVERSED[byte]!));

/** By byte, that with its bits in the opposite order. */
const REVERSED = Uint8Array.from({ length: 256 }, (_, byte) => {
  let reversed = 0;
  for (let bit = 0; bit < 8; bit++) reversed |= ((byte >> bit) & 1) << (7 - bit);
  return reversed;
});
