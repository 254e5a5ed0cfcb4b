import { isDeepStrictEqual } from 'node:util';

/** Claims, each with the values of which it must have one. */
export type RequiredClaims = Readonly<Record<string, readonly unknown[]>>;

/** Compared as JSON: the order of members does not count. A claim with an array fulfills by one element. */
export const fulfills = (claim: unknown, allowed: readonly unknown[]): boolean =>
  allowed.some(
    (value) =>
      isDeepStrictEqual(claim, value) || (Array.isArray(claim) && claim.some((one) => isDeepStrictEqual(one, value))),
  );

/** The first required claim that these claims do not fulfill; one that is absent does not. */
export const unmetClaim = (required: RequiredClaims, claims: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(required).find(
    ([name, allowed]) => !(Object.hasOwn(claims, name) && fulfills(claims[name], allowed)),
  )?.[0];
