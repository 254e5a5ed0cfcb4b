import type { Aggregate } from '@attestry/event-store';
import type { VerifiedDomainEvent } from './verified-domain.events.js';

export type VerifiedDomainState =
  { status: 'free' } | { status: 'claimed'; owner: string; verificationToken: string; claimedAt: string };

/** `domain` in lower case. */
export const verifiedDomainStream = (domain: string): string => `verifiedDomain-${domain}`;

const evolve = (_state: VerifiedDomainState, event: VerifiedDomainEvent): VerifiedDomainState => {
  switch (event.type) {
    case 'VerifiedDomainClaimed': {
      const { owner, verificationToken, claimedAt } = event.data;
      return { status: 'claimed', owner, verificationToken, claimedAt };
    }
    case 'VerifiedDomainReleased':
      return { status: 'free' };
  }
};

export const verifiedDomain: Aggregate<VerifiedDomainState, VerifiedDomainEvent> = {
  category: 'verifiedDomain',
  initial: { status: 'free' },
  types: { VerifiedDomainClaimed: 1, VerifiedDomainReleased: 1 },
  evolve,
};
