import { CORE_AUTHORIZE_PARAMETERS } from '@attestry/contracts';

const MAX_VALUE = 1000;
/** Characters in total, encoded: each request that waits for consent stores them. */
const MAX_QUERY = 4096;

/** Parameters of an authorization request that a provider can be configured to get; the others are dropped. */
export const forwardableQuery = (parameters: URLSearchParams): string => {
  const kept = new URLSearchParams();
  for (const [name, value] of parameters) {
    if ((CORE_AUTHORIZE_PARAMETERS as readonly string[]).includes(name) || value.length > MAX_VALUE) continue;
    kept.append(name, value);
    if (kept.toString().length > MAX_QUERY) {
      kept.delete(name, value);
      break;
    }
  }
  return kept.toString();
};
