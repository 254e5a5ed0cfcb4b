import type { Aggregate } from '@attestry/event-store';
import type { UserEvent } from './user.events.js';

export type UserState =
  | { status: 'absent' }
  | {
      status: 'active';
      id: string;
      sealedClaims?: string;
      /** The claims are those of an event of version 1. */
      ofBefore?: true;
      sealedLink?: string;
      createdAt: string;
      /** Began with an offer and has no event yet (ADR 0071): the first one is `UserCreated`. Never in a folded state. */
      fromOffer?: true;
    }
  | { status: 'deleted' }
  | { status: 'expired' };

export const userStream = (tenantId: string, userId: string): string => `user-${tenantId}+${userId}`;

const withClaims = (
  { ofBefore: _, ...state }: Extract<UserState, { status: 'active' }>,
  { sealedClaims, ofBefore }: Extract<UserEvent, { type: 'UserClaimsReplaced' }>['data'],
): UserState => ({ ...state, sealedClaims, ...(ofBefore && { ofBefore }) });

const evolve = (state: UserState, event: UserEvent): UserState => {
  switch (event.type) {
    case 'UserCreated':
      return {
        status: 'active',
        id: event.data.userId,
        createdAt: event.data.createdAt,
        ...(event.data.sealedClaims !== undefined && { sealedClaims: event.data.sealedClaims }),
        ...(event.data.ofBefore && { ofBefore: true }),
      };
    case 'UserLinked':
      return state.status === 'active' ? { ...state, sealedLink: event.data.sealedLink } : state;
    case 'UserClaimsReplaced':
      return state.status === 'active' ? withClaims(state, event.data) : state;
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
  // Stored claims are issued as they are until they are replaced (ADR 0099).
  upcasters: ['UserCreated', 'UserClaimsReplaced'].map((type) => ({
    ...{ type, from: 1 },
    upcast: (data: object) => ({ ...data, ofBefore: true }),
  })),
  evolve,
};
