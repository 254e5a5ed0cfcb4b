import type { Aggregate } from '@attestry/event-store';
import type { UserEmailEvent } from './user-email.events.js';

export type UserEmailState = { status: 'free' } | { status: 'claimed'; owner: string };

/** @param mac of the address in lower case, base64url */
export const userEmailStream = (mac: string): string => `userEmail-${mac}`;

const evolve = (_state: UserEmailState, event: UserEmailEvent): UserEmailState => {
  switch (event.type) {
    case 'UserEmailClaimed':
      return { status: 'claimed', owner: event.data.owner };
    case 'UserEmailReleased':
      return { status: 'free' };
  }
};

export const userEmail: Aggregate<UserEmailState, UserEmailEvent> = {
  category: 'userEmail',
  initial: { status: 'free' },
  types: { UserEmailClaimed: 1, UserEmailReleased: 1 },
  evolve,
};
