import { jsonSize, type JsonLimits } from '@attestry/contracts';

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
