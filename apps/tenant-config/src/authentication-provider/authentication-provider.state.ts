import type { Aggregate } from '@attestry/event-store';
import type { AuthenticationProviderEvent, ProviderSettings } from './authentication-provider.events.js';

export interface ActiveProvider extends ProviderSettings {
  status: 'active';
  providerId: string;
  sealedSecret?: string;
  /** Absent: the space that the provider was created with. */
  identitySpaceId?: string;
}
export type AuthenticationProviderState = { status: 'absent' } | ActiveProvider | { status: 'deleted' };

export const authenticationProviderStream = (tenantId: string, providerId: string): string =>
  `authenticationProvider-${tenantId}+${providerId}`;

const evolve = (
  state: AuthenticationProviderState,
  event: AuthenticationProviderEvent,
): AuthenticationProviderState => {
  switch (event.type) {
    case 'AuthenticationProviderCreated': {
      const { createdAt: _, ...created } = event.data;
      return { status: 'active', ...created };
    }
    case 'AuthenticationProviderChanged':
    case 'AuthenticationProviderSecretReplaced':
    case 'AuthenticationProviderTokenEndpointPinned':
    case 'AuthenticationProviderIdentitySpaceStarted':
      return state.status === 'active' ? { ...state, ...event.data } : state;
    case 'AuthenticationProviderDeleted':
      return { status: 'deleted' };
  }
};

export const authenticationProvider: Aggregate<AuthenticationProviderState, AuthenticationProviderEvent> = {
  category: 'authenticationProvider',
  initial: { status: 'absent' },
  types: {
    AuthenticationProviderCreated: 1,
    AuthenticationProviderChanged: 1,
    AuthenticationProviderSecretReplaced: 1,
    AuthenticationProviderTokenEndpointPinned: 1,
    AuthenticationProviderIdentitySpaceStarted: 1,
    AuthenticationProviderDeleted: 1,
  },
  evolve,
};
