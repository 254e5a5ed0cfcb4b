import type { Aggregate } from '@attestry/event-store';
import type { ManagementUserEvent } from './management-user.events.js';

export interface RegisteredUser {
  status: 'registered';
  id: string;
  identity: string;
  sealedEmail?: string;
  sealedName?: string;
}

export type ManagementUserState =
  { status: 'absent' } | { status: 'invited'; id: string; sealedEmail: string } | RegisteredUser;

export const managementUserStream = (userId: string): string => `managementUser-${userId}`;

const evolve = (state: ManagementUserState, event: ManagementUserEvent): ManagementUserState => {
  switch (event.type) {
    case 'ManagementUserInvited':
      return { status: 'invited', id: event.data.userId, sealedEmail: event.data.sealedEmail };
    case 'ManagementUserRegistered': {
      const { userId, identity, sealedName } = event.data;
      const sealedEmail = event.data.sealedEmail ?? (state.status === 'invited' ? state.sealedEmail : undefined);
      return {
        status: 'registered',
        id: userId,
        identity,
        ...(sealedEmail !== undefined && { sealedEmail }),
        ...(sealedName !== undefined && { sealedName }),
      };
    }
    case 'ManagementUserEmailChanged':
      return state.status === 'registered' ? { ...state, sealedEmail: event.data.sealedEmail } : state;
    case 'ManagementUserNamed':
      return state.status === 'registered' ? { ...state, sealedName: event.data.sealedName } : state;
  }
};

export const managementUser: Aggregate<ManagementUserState, ManagementUserEvent> = {
  category: 'managementUser',
  initial: { status: 'absent' },
  types: {
    ManagementUserInvited: 1,
    ManagementUserRegistered: 1,
    ManagementUserEmailChanged: 1,
    ManagementUserNamed: 1,
  },
  evolve,
};
