import type { UserIdentityEvent } from './user-identity.events.js';
import type { UserIdentityState } from './user-identity.state.js';

const claimed = (owner: string, now: string): UserIdentityEvent[] => [
  { type: 'UserIdentityClaimed', data: { owner, claimedAt: now } },
];

/** Nothing when it is a user already: the state tells which. */
export const claimIdentity = (
  state: UserIdentityState,
  command: { owner: string; now: string },
): UserIdentityEvent[] => (state.status === 'claimed' ? [] : claimed(command.owner, command.now));

/** The user it was to be became another identity's meanwhile. */
export const reassignIdentity = (
  state: UserIdentityState,
  command: { from: string; owner: string; now: string },
): UserIdentityEvent[] =>
  state.status === 'claimed' && state.owner === command.from ? claimed(command.owner, command.now) : [];
