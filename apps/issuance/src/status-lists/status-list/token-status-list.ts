import type { CborValue } from '@attestry/cose';
import { deflateStatuses } from './compressed-statuses.js';
import type { StatusBits } from './packed-statuses.js';

/** Where a credential's status is published. */
export interface StatusReference {
  /** Address of the status list. */
  uri: string;
  index: number;
  /** Address of the revocation list with the same entries, if it is published as one. */
  revocationUri?: string;
}

/** A status list to be signed. */
export interface UnsignedList {
  /** Equals `uri` of the references. */
  uri: string;
  /** In the layout of `packedStatuses`; must not change while it is compressed. */
  statuses: Uint8Array;
  issuedAt: Date;
  expiresAt: Date;
}

export interface UnsignedTokenStatusList extends UnsignedList {
  bits: StatusBits;
  /** Seconds. */
  timeToLive: number;
  /** Address of the document that lists all of the issuer's lists, Token Status List §9. */
  aggregationUri?: string;
}

/** Value of `status` in JWTs and SD-JWTs, of claim 65535 in CWTs and of `status` in the MSO: Token Status List §6. */
export interface TokenStatus {
  status_list: { idx: number; uri: string };
}

/** Claim of `TokenStatus` in a CWT, Token Status List §6.3. */
export const CWT_STATUS_CLAIM = 65535;

/** `typ` of the JWT and of the CWT (label 16), Token Status List §5. */
export const STATUS_LIST_JWT_TYPE = 'statuslist+jwt';
export const STATUS_LIST_CWT_TYPE = 'application/statuslist+cwt';

export const tokenStatus = ({ uri, index }: StatusReference): TokenStatus => ({ status_list: { idx: index, uri } });

/** Claims of the JWT, Token Status List §5.1. */
export const statusListJwtClaims = async (list: UnsignedTokenStatusList) => ({
  sub: list.uri,
  iat: secondsOf(list.issuedAt),
  exp: secondsOf(list.expiresAt),
  ttl: list.timeToLive,
  status_list: {
    bits: list.bits,
    lst: (await deflateStatuses(list.statuses)).toString('base64url'),
    ...(list.aggregationUri !== undefined && { aggregation_uri: list.aggregationUri }),
  },
});

/** Claims of the CWT, Token Status List §5.2. The COSE_Sign1 has tag 18; the CWT has no tag. */
export const statusListCwtClaims = async (list: UnsignedTokenStatusList): Promise<ReadonlyMap<number, CborValue>> =>
  new Map<number, CborValue>([
    [2, list.uri],
    [4, secondsOf(list.expiresAt)],
    [6, secondsOf(list.issuedAt)],
    [
      65533,
      {
        bits: list.bits,
        lst: await deflateStatuses(list.statuses),
        ...(list.aggregationUri !== undefined && { aggregation_uri: list.aggregationUri }),
      },
    ],
    [65534, list.timeToLive],
  ]);

/** Seconds since 1970, rounded down. */
export const secondsOf = (date: Date): number => Math.floor(date.getTime() / 1000);
