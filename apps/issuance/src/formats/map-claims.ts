import { oauthError, type ClaimMapping, type UserInfoOutcome, type UserLink } from '@attestry/contracts';
import { nearestName } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { parseClaimPath } from './claim-path.js';
import { isObject } from '../reading/raw-request/raw-request.js';

/** Object that `mapFrom` paths address. */
export interface UserObject {
  claims: Record<string, unknown>;
  authenticationProvider?: Pick<UserLink, 'url' | 'subjectId'>;
  /** `false`: values of these claims only. Absent: default values too. */
  hasDefaults?: false;
  /** Names of the claims that the answer of a claims source cannot replace. Absent: no answer is outstanding. */
  finalClaims?: ReadonlySet<string>;
  /** UserInfo outcome of the person's sign-in; absent without one. */
  userInfo?: UserInfoOutcome;
  /** Names of an offer's claims that the credential does not use. Its author may have meant a required one. Wallets do not get them. */
  unusedClaims?: readonly string[];
}

/** Names that one name is compared with, and the longest of them. */
const MAX_COMPARED = 200;
const MAX_NAME = 100;

/** True for a mapping whose value the answer of a claims source may still add or replace: that of a claim, by its outermost name (ADR 0093). */
export const isPending = ({ mapFrom }: ClaimMapping, { finalClaims }: UserObject): boolean => {
  if (!finalClaims || mapFrom === undefined) return false;
  const [root, name] = pathOf(mapFrom);
  return root === 'claims' && !finalClaims.has(name!);
};

/**
 * Claims of the credential from these sources alone, without those that are pending: a required one may come from another.
 */
export const mapKnownClaims = (mappings: Record<string, ClaimMapping>, from: UserObject): Record<string, unknown> => {
  const claims: [string, unknown][] = [];
  for (const [name, mapping] of Object.entries(mappings)) {
    if (from.finalClaims && isPending(mapping, from)) continue;
    const { mapFrom, defaultValue } = mapping;
    const value =
      (mapFrom === undefined ? undefined : valueAt(from, mapFrom)) ??
      (from.hasDefaults === false ? undefined : defaultValue);
    if (value !== undefined) claims.push([name, value]);
  }
  return Object.fromEntries(claims);
};

/**
 * Claims of the credential. `mapFrom` only: left out when missing; with `defaultValue`: that on a miss; `defaultValue`
 * only: a static claim; required without either: denied. Those that are pending are left out and not denied.
 * @param namespace of the claims, where the format has namespaces
 */
export const mapClaims = (
  mappings: Record<string, ClaimMapping>,
  from: UserObject,
  namespace?: string,
): Record<string, unknown> => {
  const claims = mapKnownClaims(mappings, from);
  for (const [name, mapping] of Object.entries(mappings))
    if (mapping.required && !Object.hasOwn(claims, name) && !(from.finalClaims && isPending(mapping, from))) {
      const claim = namespace === undefined ? name : `${namespace} ${name}`;
      throw oauthError(
        'credential_request_denied',
        from.unusedClaims
          ? lackedByOffer(claim, name, mapping, from.unusedClaims)
          : `the required claim ${claim} has no value${lackedBy(mapping, from)}`,
        {
          check: 'map-claims',
          claim,
        },
      );
    }
  return claims;
};

/** Where the offer's author has to put the value, and the claim that was probably meant for it, without its value. */
const lackedByOffer = (claim: string, name: string, { mapFrom }: ClaimMapping, unused: readonly string[]): string => {
  const source = mapFrom === undefined || mapFrom === `claims.${name}` ? '' : `, mapped from ${mapFrom},`;
  const [root, wanted] = mapFrom === undefined ? [] : pathOf(mapFrom);
  const candidates = unused.filter(({ length }) => length <= MAX_NAME).slice(0, MAX_COMPARED);
  const nearest = root === 'claims' ? nearestName(wanted!, candidates) : undefined;
  const meant = nearest === undefined ? '' : `; claims.${nearest} is not used: did you mean "${wanted}"?`;
  return `the required claim ${claim}${source} has no value${meant}`;
};

/** Answers of the provider that lack the claim, for a person who signed in. */
const lackedBy = ({ mapFrom }: ClaimMapping, { claims, userInfo }: UserObject): string => {
  const [root, name] = mapFrom === undefined ? [] : pathOf(mapFrom);
  if (!userInfo || root !== 'claims') return '';
  // Null stands for a value that cannot be used, too; the record of the sign-in has the names of those (`unusableClaims`).
  if (Object.hasOwn(claims, name!))
    return claims[name!] === null
      ? `: claims.${name} is null, so the provider has no value for it, or one that cannot be used`
      : `: claims.${name} has no value at ${mapFrom}`;
  const { requested, failure } = userInfo;
  if (failure !== undefined) return `: the ID token does not have it, and UserInfo failed: ${failure}`;
  if (!requested) return ': the ID token does not have it, and UserInfo was not requested in the sign-in';
  return ': neither the ID token nor UserInfo has it';
};

const paths = new LRUCache<string, string[]>({ max: 5000 });

const pathOf = (mapFrom: string): string[] => {
  let path = paths.get(mapFrom);
  if (!path) {
    path = parseClaimPath(mapFrom);
    if (!path) throw new Error('a stored mapFrom has no valid syntax');
    paths.set(mapFrom, path);
  }
  return path;
};

/** `undefined` and null alike are a miss; only own members count. */
const valueAt = (from: UserObject, mapFrom: string): unknown => {
  let value: unknown = from;
  for (const name of pathOf(mapFrom)) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
};
