import { inexactNumbers } from './json/exact-numbers.js';

/** Claims, and the names of those that cannot be used, which have the value null. */
export interface UsableClaims {
  claims: Record<string, unknown>;
  unusable: string[];
}

/**
 * Claims of a foreign JSON text without those that have, at any depth, an inexact number or half of a surrogate pair, which two readers take
 * for different texts (RFC 8259 §8.2): these are null, which is no value, so that no earlier value of the name takes its place.
 * @param path of the claims in the text
 */
export const usableClaims = (
  claims: Record<string, unknown>,
  text: string,
  path: readonly string[] = [],
): UsableClaims => {
  const names = inexactNumbers(text, Infinity)
    .filter((steps) => steps.length > path.length && path.every((step, index) => steps[index] === step))
    .map((steps) => steps[path.length]!);
  // Only an escape makes one: the text itself is well-formed.
  if (/\\u[dD][89a-fA-F]/.test(text))
    for (const [name, value] of Object.entries(claims)) if (!isWellFormed(value)) names.push(name);
  const unusable = [...new Set(names)].filter((name) => Object.hasOwn(claims, name));
  if (unusable.length === 0) return { claims, unusable };
  return { claims: { ...claims, ...Object.fromEntries(unusable.map((name) => [name, null])) }, unusable };
};

const isWellFormed = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
};

/** Unusable claims that a log line or a record names, and longest name. */
const [MAX_NAMED, MAX_NAME] = [10, 100];

/** Names of unusable claims for a log line or a record. */
export const namesOfUnusable = (names: readonly string[]): string[] =>
  names.slice(0, MAX_NAMED).map((name) => name.slice(0, MAX_NAME).toWellFormed());
