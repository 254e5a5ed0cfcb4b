import type { Aggregate } from '@attestry/event-store';
import type { WithdrawnDomainsEvent } from './withdrawn-domains.events.js';

export interface WithdrawnDomainsState {
  /** Custom domain that the tenant has now. */
  verified?: string;
  /** Withdrawn ones. */
  domains: readonly string[];
  /** Revision of the newest integration event applied; -1 before the first. */
  revision: number;
}

export const withdrawnDomainsStream = (tenantId: string): string => `withdrawnDomains-${tenantId}`;

const evolve = ({ domains, verified }: WithdrawnDomainsState, event: WithdrawnDomainsEvent): WithdrawnDomainsState => {
  const { domain, revision } = event.data;
  const others = domains.filter((other) => other !== domain);
  switch (event.type) {
    case 'IssuerDomainWithdrawn':
      return {
        ...(verified !== undefined && verified !== domain && { verified }),
        ...{ domains: [...others, domain], revision },
      };
    case 'IssuerDomainVerified':
      return { verified: domain, domains: others, revision };
  }
};

export const withdrawnDomains: Aggregate<WithdrawnDomainsState, WithdrawnDomainsEvent> = {
  category: 'withdrawnDomains',
  initial: { domains: [], revision: -1 },
  types: { IssuerDomainWithdrawn: 1, IssuerDomainVerified: 1 },
  evolve,
};
