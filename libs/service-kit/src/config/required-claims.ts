import { isDeepStrictEqual } from 'node:util';

/** Claims, each with the values of which it must have one. */
export type RequiredClaims = Readonly<Record<string, readonly unknown[]>>;

/** An array of more elements fulfills nothing: each is compared with each allowed value. */
const MOST_ELEMENTS = 1000;

/** Compared as JSON: the order of members does not count. A claim with an array fulfills by one element. */
export const fulfills = (claim: unknown, allowed: readonly unknown[]): boolean => {
  const elements = Array.isArray(claim) ? (claim as unknown[]) : [];
  if (elements.length > MOST_ELEMENTS) return false;
  const candidates = [claim, ...elements];
  const plain = new Set(allowed);
  const objects = allowed.filter((value) => typeof value === 'object' && value !== null);
  return candidates.some(
    (one) => plain.has(one) || (typeof one === 'object' && objects.some((value) => isDeepStrictEqual(one, value))),
  );
};

/** The first required claim that these claims do not fulfill; one that is absent does not. */
export const unmetClaim = (required: RequiredClaims, claims: Readonly<Record<string, unknown>>): string | undefined =>
  Object.entries(required).find(
    ([name, allowed]) => !(Object.hasOwn(claims, name) && fulfills(claims[name], allowed)),
  )?.[0];
