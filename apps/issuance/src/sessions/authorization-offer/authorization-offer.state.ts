import type { Aggregate } from '@attestry/event-store';
import type { AuthorizationOfferData, AuthorizationOfferEvent } from './authorization-offer.events.js';

export type AuthorizationOfferState =
  | { status: 'absent' }
  | ({ status: 'open'; id: string } & Omit<AuthorizationOfferData, 'offerId' | 'createdAt'>)
  | { status: 'deleted' };

export type OpenOffer = Extract<AuthorizationOfferState, { status: 'open' }>;

export const authorizationOfferStream = (tenantId: string, offerId: string): string =>
  `authorizationOffer-${tenantId}+${offerId}`;

const evolve = (_state: AuthorizationOfferState, event: AuthorizationOfferEvent): AuthorizationOfferState => {
  switch (event.type) {
    case 'AuthorizationOfferCreated': {
      const { offerId: id, createdAt: _createdAt, ...offer } = event.data;
      return { status: 'open', id, ...offer };
    }
    case 'AuthorizationOfferDeleted':
      return { status: 'deleted' };
  }
};

export const authorizationOffer: Aggregate<AuthorizationOfferState, AuthorizationOfferEvent> = {
  category: 'authorizationOffer',
  initial: { status: 'absent' },
  types: { AuthorizationOfferCreated: 2, AuthorizationOfferDeleted: 1 },
  lowestVersions: { AuthorizationOfferCreated: 2 },
  evolve,
};
