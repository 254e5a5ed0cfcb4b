import type { Aggregate } from '@attestry/event-store';
import type { RegisteredWallet, WalletsEvent } from './wallets.events.js';

/** Oldest first. */
export type WalletsState = readonly RegisteredWallet[];

/** One stream per tenant: client ids are unique, and their number is limited. */
export const walletsStream = (tenantId: string): string => `wallets-${tenantId}`;

const evolve = (state: WalletsState, { type, data }: WalletsEvent): WalletsState => {
  switch (type) {
    case 'WalletRegistered':
      return [...state, data];
    case 'WalletUpdated':
      return state.map((one) => (one.id === data.id ? data : one));
    case 'WalletDeleted':
      return state.filter(({ id }) => id !== data.id);
  }
};

export const wallets: Aggregate<WalletsState, WalletsEvent> = {
  category: 'wallets',
  initial: [],
  types: { WalletRegistered: 1, WalletUpdated: 1, WalletDeleted: 1 },
  evolve,
};
