import type { CborValue } from './cbor.js';
import { ClaimFault } from './claim-fault.js';

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Text that UTF-8 can carry unchanged: an encoder would replace a lone surrogate. */
export const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();

export const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** A JSON value as CBOR: numbers without a fraction become integers, members keep their names. @throws ClaimFault */
export const jsonToCbor = (claim: readonly string[], value: unknown): CborValue => {
  if (value === null || typeof value === 'boolean' || isText(value) || isNumber(value)) return value;
  if (Array.isArray(value)) return value.map((it) => jsonToCbor(claim, it));
  if (isObject(value)) return mapOf(claim, value, (_name, member) => jsonToCbor(claim, member));
  throw new ClaimFault(claim, 'must consist of JSON values with well-formed text', value);
};

/** The members of an object as a CBOR map, or in one. @throws ClaimFault */
export const mapOf = (
  claim: readonly string[],
  value: Record<string, unknown>,
  encode: (name: string, member: unknown) => CborValue,
  map = new Map<number | string, CborValue>(),
): ReadonlyMap<number | string, CborValue> => {
  for (const [name, member] of Object.entries(value)) {
    if (!isText(name)) throw new ClaimFault(claim, 'must have names of well-formed text', name);
    map.set(name, encode(name, member));
  }
  return map;
};
