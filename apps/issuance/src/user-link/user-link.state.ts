import type { Aggregate } from '@attestry/event-store';
import type { UserLinkEvent } from './user-link.events.js';

export type UserLinkState = { status: 'free' } | { status: 'claimed'; owner: string };

/** @param mac of provider and subject, base64url: the name of a stream tells nobody's subject */
export const userLinkStream = (tenantId: string, mac: string): string => `userLink-${tenantId}+${mac}`;

const evolve = (_state: UserLinkState, event: UserLinkEvent): UserLinkState => ({
  status: 'claimed',
  owner: event.data.owner,
});

export const userLink: Aggregate<UserLinkState, UserLinkEvent> = {
  category: 'userLink',
  initial: { status: 'free' },
  types: { UserLinkClaimed: 1 },
  evolve,
};
