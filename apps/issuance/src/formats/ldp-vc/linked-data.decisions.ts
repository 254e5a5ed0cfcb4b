import { jsonSize, type ErrorDetail, type JsonLimits } from '@attestry/contracts';

/** Limits of one canonicalization: the claims of all credentials of one request, or the contexts of one configuration (ADR 0042). */
export const LINKED_DATA_LIMITS: JsonLimits = { values: 20_000, depth: 32 };

/** Why claims exceed what may be canonicalized for that number of credentials at once (ADR 0042). */
export const linkedDataFault = (claims: Record<string, unknown>, credentials = 1): string | undefined => {
  const { values, exceeds } = jsonSize({ credentialSubject: claims }, LINKED_DATA_LIMITS);
  if (exceeds === 'depth') return `nest deeper than ${LINKED_DATA_LIMITS.depth} levels`;
  return exceeds || values * credentials > LINKED_DATA_LIMITS.values
    ? `have more than ${LINKED_DATA_LIMITS.values} JSON values`
    : undefined;
};

/** N-Quads allow these characters in an IRI: `@vocab` appends the name to one (RDF 1.1 N-Quads, IRIREF). */
const IRI_PART = /^(?!_:)[^\x00-\x20<>"{}|^`\\]+$/;

/** Fault of a type or of the name of a claim. */
export const termFault = (term: string): string | undefined =>
  IRI_PART.test(term) ? undefined : 'must have only characters that are allowed in an IRI';

/** True when an object somewhere inside has a key that JSON-LD would take as a keyword. */
export const hasKeyword = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(hasKeyword)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).some(([key, inner]) => key.startsWith('@') || hasKeyword(inner))
      : false;

export const KEYWORD_FAULT = 'must not have a member name that starts with @, which JSON-LD reserves';

/** The first claim whose value has such a member. */
export const claimWithKeyword = (claims: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(claims).find((name) => hasKeyword(claims[name]));

/** Fault of the default value of a claim. */
export const valueFault = (name: string, defaultValue: unknown): string | undefined => {
  const tooLarge = linkedDataFault({ [name]: defaultValue });
  if (tooLarge) return `must not have a defaultValue that makes claims ${tooLarge}`;
  return hasKeyword(defaultValue) ? 'must not have JSON-LD keywords in defaultValue' : undefined;
};

export const contextFaults = (contexts: readonly string[]): ErrorDetail[] =>
  contexts.flatMap((url, index) =>
    contexts.indexOf(url) < index
      ? [{ value: url, msg: 'must not repeat a context', param: `contexts.${index}`, location: 'body' as const }]
      : [],
  );
