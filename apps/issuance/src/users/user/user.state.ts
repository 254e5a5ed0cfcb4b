import type { Aggregate } from '@attestry/event-store';
import type { UserEvent } from './user.events.js';

export type UserState =
  | { status: 'absent' }
  | {
      status: 'active';
      id: string;
      sealedClaims?: string;
      sealedLink?: string;
      createdAt: string;
      /** Began with an offer and has no event yet (ADR 0071): the first one is `UserCreated`. Never in a folded state. */
      fromOffer?: true;
    }
  | { status: 'deleted' }
  | { status: 'expired' };

export const userStream = (tenantId: string, userId: string): string => `user-${tenantId}+${userId}`;

const evolve = (state: UserState, event: UserEvent): UserState => {
  switch (event.type) {
    case 'UserCreated':
      return {
        status: 'active',
        id: event.data.userId,
        createdAt: event.data.createdAt,
        ...(event.data.sealedClaims !== undefined && { sealedClaims: event.data.sealedClaims }),
      };
    case 'UserLinked':
      return state.status === 'active' ? { ...state, sealedLink: event.data.sealedLink } : state;
    case 'UserClaimsReplaced':
      return state.status === 'active' ? { ...state, sealedClaims: event.data.sealedClaims } : state;
    case 'UserDeleted':
      return { status: 'deleted' };
    case 'UserExpired':
      return state.status === 'absent' ? { status: 'expired' } : state;
  }
};

export const user: Aggregate<UserState, UserEvent> = {
  category: 'user',
  initial: { status: 'absent' },
  types: { UserCreated: 2, UserLinked: 1, UserClaimsReplaced: 2, UserDeleted: 1, UserExpired: 1 },
  lowestVersions: { UserCreated: 2, UserClaimsReplaced: 2 },
  evolve,
};
