import { hash } from 'node:crypto';
import type { CborValue } from '@attestry/cose';
import { statusAt, VALID } from './packed-statuses.js';
import { secondsOf, type UnsignedTokenStatusList } from './token-status-list.js';

/** Credentials of a list: a token with all of them has 74 KB, and is encoded in a fraction of the budget of the main thread (ADR 0082). */
export const IDENTIFIER_LIST_SIZE = 4096;

/** `typ` of the CWT (label 16) and its media type, ISO/IEC 18013-5, second edition, §12.3.6.4. */
export const IDENTIFIER_LIST_TYPE = 'application/identifierlist+cwt';

const ID_BYTES = 16;
/** `IdentifierInfo`, which has no members yet. */
const NO_INFO: CborValue = {};

/**
 * The identifier of a credential, which is its index in another form: not stored, and as unpredictable as the index, which is permuted under
 * the secret of the list.
 */
export const listIdentifier = (uri: string, index: number): Uint8Array =>
  new Uint8Array(hash('sha256', `${uri}#${index}`, 'buffer').subarray(0, ID_BYTES));

/** Claims of the CWT, ISO/IEC 18013-5, second edition, §12.3.6.4: the identifiers of all credentials that are not valid. */
export const identifierListClaims = (
  list: UnsignedTokenStatusList & { size: number },
): ReadonlyMap<number, CborValue> => {
  const identifiers = new Map<Uint8Array, CborValue>();
  for (let index = 0; index < list.size; index++)
    if (statusAt(list.statuses, list.bits, index) !== VALID) identifiers.set(listIdentifier(list.uri, index), NO_INFO);
  return new Map<number, CborValue>([
    [2, list.uri],
    [4, secondsOf(list.expiresAt)],
    [6, secondsOf(list.issuedAt)],
    [65530, { identifiers }],
    [65534, list.timeToLive],
  ]);
};
