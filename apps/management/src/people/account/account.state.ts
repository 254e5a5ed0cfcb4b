import type { Aggregate } from '@attestry/event-store';
import type { AccountEvent } from './account.events.js';

export interface OpenAccount {
  status: 'open';
  id: string;
  sealedEmail: string;
  sealedName: string;
  sealedPassword: string;
}

export type AccountState = { status: 'absent' } | OpenAccount;

export const accountStream = (accountId: string): string => `account-${accountId}`;

const evolve = (_state: AccountState, event: AccountEvent): AccountState => {
  switch (event.type) {
    case 'AccountOpened': {
      const { accountId: id, sealedEmail, sealedName, sealedPassword } = event.data;
      return { status: 'open', id, sealedEmail, sealedName, sealedPassword };
    }
  }
};

export const account: Aggregate<AccountState, AccountEvent> = {
  category: 'account',
  initial: { status: 'absent' },
  types: { AccountOpened: 1 },
  evolve,
};
