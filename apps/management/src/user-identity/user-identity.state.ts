import type { Aggregate } from '@attestry/event-store';
import type { UserIdentityEvent } from './user-identity.events.js';

export type UserIdentityState = { status: 'free' } | { status: 'claimed'; owner: string };

/** @param mac of issuer and subject, base64url */
export const userIdentityStream = (mac: string): string => `userIdentity-${mac}`;

const evolve = (_state: UserIdentityState, event: UserIdentityEvent): UserIdentityState => {
  switch (event.type) {
    case 'UserIdentityClaimed':
      return { status: 'claimed', owner: event.data.owner };
  }
};

export const userIdentity: Aggregate<UserIdentityState, UserIdentityEvent> = {
  category: 'userIdentity',
  initial: { status: 'free' },
  types: { UserIdentityClaimed: 1 },
  evolve,
};
