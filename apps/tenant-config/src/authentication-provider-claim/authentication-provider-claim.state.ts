import type { Aggregate } from '@attestry/event-store';
import type { AuthenticationProviderClaimEvent } from './authentication-provider-claim.events.js';

export type AuthenticationProviderClaimState =
  { status: 'free' } | { status: 'claimed'; owner: string; claimedAt: string };

export const authenticationProviderClaimStream = (tenantId: string): string =>
  `authenticationProviderClaim-${tenantId}`;

const evolve = (
  _state: AuthenticationProviderClaimState,
  event: AuthenticationProviderClaimEvent,
): AuthenticationProviderClaimState => {
  switch (event.type) {
    case 'AuthenticationProviderClaimed':
      return { status: 'claimed', ...event.data };
    case 'AuthenticationProviderClaimReleased':
      return { status: 'free' };
  }
};

export const authenticationProviderClaim: Aggregate<
  AuthenticationProviderClaimState,
  AuthenticationProviderClaimEvent
> = {
  category: 'authenticationProviderClaim',
  initial: { status: 'free' },
  types: { AuthenticationProviderClaimed: 1, AuthenticationProviderClaimReleased: 1 },
  evolve,
};
