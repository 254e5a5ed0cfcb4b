import type { WithdrawnDomainsEvent } from './withdrawn-domains.events.js';
import type { WithdrawnDomainsState } from './withdrawn-domains.state.js';

/** Idempotent, and ignores events older than the last one: the feed delivers at least once. */
export const recordDomainChange = (
  state: WithdrawnDomainsState,
  { domain, revision, isVerified }: { domain: string; revision: number; isVerified: boolean },
  { activeConfigurations }: { activeConfigurations: number },
): WithdrawnDomainsEvent[] => {
  if (revision <= state.revision) return [];
  if (isVerified)
    return state.verified === domain ? [] : [{ type: 'IssuerDomainVerified', data: { domain, revision } }];
  return state.domains.includes(domain)
    ? []
    : [{ type: 'IssuerDomainWithdrawn', data: { domain, revision, activeConfigurations } }];
};
