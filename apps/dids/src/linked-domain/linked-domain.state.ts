import type { Aggregate } from '@attestry/event-store';
import type { LinkedDomainEvent } from './linked-domain.events.js';

export interface LinkedDomainState {
  /** Lower case, no port; absent while the tenant has verified none. */
  domain?: string;
  /** Revision of the newest integration event applied; -1 before the first. */
  revision: number;
}

export const linkedDomainStream = (tenantId: string): string => `linkedDomain-${tenantId}`;

const evolve = (_state: LinkedDomainState, event: LinkedDomainEvent): LinkedDomainState => {
  const { domain, revision } = event.data;
  switch (event.type) {
    case 'DomainLinked':
      return { domain, revision };
    case 'DomainUnlinked':
      return { revision };
  }
};

export const linkedDomain: Aggregate<LinkedDomainState, LinkedDomainEvent> = {
  category: 'linkedDomain',
  initial: { revision: -1 },
  types: { DomainLinked: 1, DomainUnlinked: 1 },
  evolve,
};
