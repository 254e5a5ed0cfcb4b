import type { Aggregate } from '@attestry/event-store';
import type { AccountEmailEvent } from './account-email.events.js';

export type AccountEmailState = { status: 'free' } | { status: 'claimed'; owner: string };

/** @param mac of the address in lower case, base64url */
export const accountEmailStream = (mac: string): string => `accountEmail-${mac}`;

const evolve = (_state: AccountEmailState, event: AccountEmailEvent): AccountEmailState => {
  switch (event.type) {
    case 'AccountEmailClaimed':
      return { status: 'claimed', owner: event.data.owner };
  }
};

export const accountEmail: Aggregate<AccountEmailState, AccountEmailEvent> = {
  category: 'accountEmail',
  initial: { status: 'free' },
  types: { AccountEmailClaimed: 1 },
  evolve,
};
