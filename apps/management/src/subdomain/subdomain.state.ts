import type { Aggregate } from '@attestry/event-store';
import type { SubdomainEvent } from './subdomain.events.js';

export type SubdomainState = { status: 'free' } | { status: 'claimed'; owner: string; claimedAt: string };

export const subdomainStream = (environmentId: string, subdomain: string): string =>
  `subdomain-${environmentId}+${subdomain}`;

const evolve = (_state: SubdomainState, event: SubdomainEvent): SubdomainState => {
  switch (event.type) {
    case 'SubdomainClaimed':
      return { status: 'claimed', owner: event.data.owner, claimedAt: event.data.claimedAt };
    case 'SubdomainReleased':
      return { status: 'free' };
  }
};

export const subdomain: Aggregate<SubdomainState, SubdomainEvent> = {
  category: 'subdomain',
  initial: { status: 'free' },
  types: { SubdomainClaimed: 1, SubdomainReleased: 1 },
  evolve,
};
