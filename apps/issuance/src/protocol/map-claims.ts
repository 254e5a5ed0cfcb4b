import { oauthError, type ClaimMapping, type UserLink } from '@attestry/contracts';
import { LRUCache } from 'lru-cache';
import { parseClaimPath } from '../credential-configuration/claim-path.js';
import { isObject } from './raw-request.js';

/** What `mapFrom` paths address. */
export interface UserObject {
  claims: Record<string, unknown>;
  authenticationProvider?: Pick<UserLink, 'url' | 'subjectId'>;
}

/**
 * Claims of the credential from these sources alone: a required one may come from another.
 */
export const mapKnownClaims = (mappings: Record<string, ClaimMapping>, from: UserObject): Record<string, unknown> => {
  const claims: [string, unknown][] = [];
  for (const [name, { mapFrom, defaultValue }] of Object.entries(mappings)) {
    const value = (mapFrom === undefined ? undefined : valueAt(from, mapFrom)) ?? defaultValue;
    if (value !== undefined) claims.push([name, value]);
  }
  return Object.fromEntries(claims);
};

/**
 * Claims of the credential. `mapFrom` only: left out when missing; with `defaultValue`: that on a miss; `defaultValue`
 * only: a static claim; required without either: denied.
 * @param namespace of the claims, where the format has namespaces
 */
export const mapClaims = (
  mappings: Record<string, ClaimMapping>,
  from: UserObject,
  namespace?: string,
): Record<string, unknown> => {
  const claims = mapKnownClaims(mappings, from);
  for (const [name, { required }] of Object.entries(mappings))
    if (required && !Object.hasOwn(claims, name)) {
      const claim = namespace === undefined ? name : `${namespace} ${name}`;
      throw oauthError('credential_request_denied', `the required claim ${claim} has no value`, {
        check: 'map-claims',
        claim,
      });
    }
  return claims;
};

const paths = new LRUCache<string, string[]>({ max: 5000 });

/** `undefined` and null alike are a miss; only own members count. */
const valueAt = (from: UserObject, mapFrom: string): unknown => {
  let path = paths.get(mapFrom);
  if (!path) {
    path = parseClaimPath(mapFrom);
    if (!path) throw new Error('a stored mapFrom has no valid syntax');
    paths.set(mapFrom, path);
  }
  let value: unknown = from;
  for (const name of path) {
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
};
