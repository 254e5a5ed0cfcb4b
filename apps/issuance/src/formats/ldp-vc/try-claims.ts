import { jsonSize } from '@attestry/contracts';
import { CanonicalizationTooLong, WELL_KNOWN_CONTEXTS, type Canonicalization } from '@attestry/linked-data';
import { byName, claimBeyondLimit, type ClaimFault } from '../claim-faults.decisions.js';
import { claimWithKeyword, KEYWORD_FAULT, LINKED_DATA_LIMITS, linkedDataFault } from './linked-data.decisions.js';

/** A credential without claims, as far as it decides how claims are read. */
export const documentWithoutClaims = (contexts: readonly string[], types: readonly string[]) => ({
  '@context': contexts,
  type: types,
  issuer: 'did:example:issuer',
  credentialSubject: { id: 'did:example:holder' },
});

/**
 * Faults that are found without canonicalization: too many values, and names that JSON-LD reserves.
 * @param credentials of one request
 */
export const plainClaimFault = (claims: Record<string, unknown>, credentials = 1): ClaimFault | undefined => {
  // Before any recursion over levels of the claims.
  if (linkedDataFault(claims, credentials) !== undefined) {
    const whose = credentials === 1 ? 'the credential' : 'the credentials of one request';
    const beyond = claimBeyondLimit((added) => linkedDataFault(added, credentials), byName(claims), whose);
    if (beyond) return beyond;
  }
  const claim = claimWithKeyword(claims);
  return claim === undefined ? undefined : { claim, msg: KEYWORD_FAULT };
};

/** Terms that the contexts of credentials define, so that even a text can be read as an address. */
const DEFINED_TERMS: ReadonlySet<string> = new Set(
  [...WELL_KNOWN_CONTEXTS.values()].flatMap((document) =>
    Object.keys((document as { '@context': object })['@context']),
  ),
);

/**
 * Claims that can have a fault: text, numbers and booleans have none unless a context defines the term.
 * @param hasContexts the configuration has contexts of its own
 */
export const claimsToTry = (claims: Record<string, unknown>, hasContexts: boolean): Record<string, unknown> =>
  hasContexts
    ? claims
    : Object.fromEntries(
        Object.entries(claims).filter(([name, value]) => typeof value === 'object' || DEFINED_TERMS.has(name)),
      );

/** By the code of the processor (JSON-LD 1.1 API §9.6, and the events of safe mode). */
const RULES: Readonly<Record<string, string>> = {
  'relative @id reference':
    'must have absolute IRIs as id, such as urn:uuid:1b4e28ba-2fa1-11d2-883f-0016d3cca427: other identifiers need another name',
  'invalid @id value': 'must have an absolute IRI as id, not another value',
  'relative @type reference': 'must have types that are absolute IRIs or names without spaces',
  'invalid type value': 'must have a text or a list of texts as type',
  'invalid property': 'must have member names that are allowed in an IRI, without spaces',
  'blank node predicate': 'must not have member names that start with _:',
  'relative object reference': 'must be an absolute IRI where a context defines a term with the type @id',
  nestedArrays:
    'must not have arrays in arrays, which JSON-LD reads as one array: use objects with named members, or a context that defines the term with the container @list or the type @json',
};

/**
 * The first claim that cannot be expressed as linked data, found by canonicalization.
 * @param claims that passed {@link plainClaimFault}
 * @throws AppError 503 when there is no capacity
 */
export const tryClaims = async (
  canonicalization: Pick<Canonicalization, 'findClaimFault'>,
  tenantId: string,
  document: ReturnType<typeof documentWithoutClaims>,
  claims: Record<string, unknown>,
  contexts: ReadonlyMap<string, string>,
): Promise<ClaimFault | undefined> => {
  if (Object.keys(claims).length === 0) return undefined;
  try {
    const { claim, fault } = await canonicalization.findClaimFault(tenantId, { document, claims }, contexts);
    if (claim === undefined || fault === undefined) return undefined;
    const code = fault === 'nestedArrays' ? fault : fault.code;
    // Messages of the processor may contain values; its codes are words.
    const shown = /^[\w@ ,-]{1,60}$/.test(code) ? ` (${code})` : '';
    return { claim, msg: RULES[code] ?? `cannot be expressed as linked data${shown}` };
  } catch (error) {
    if (error instanceof CanonicalizationTooLong) return claimTooSlow(claims);
    throw error;
  }
};

/** Named is the claim with the most values. */
export const claimTooSlow = (claims: Record<string, unknown>): ClaimFault => {
  const size = (value: unknown): number => jsonSize(value, LINKED_DATA_LIMITS).values;
  const [[claim] = ['credentialSubject']] = Object.entries(claims).sort(([, a], [, b]) => size(b) - size(a));
  return { claim, msg: 'takes too long to canonicalize: it must take at most 5 seconds' };
};
