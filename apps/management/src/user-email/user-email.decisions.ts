import type { UserEmailEvent } from './user-email.events.js';
import type { UserEmailState } from './user-email.state.js';

/**
 * Nothing when somebody has it: the state tells who. A claim whose user was never written is no fault, for whoever comes next
 * completes it under the same id.
 */
export const claimEmail = (state: UserEmailState, command: { owner: string; now: string }): UserEmailEvent[] =>
  state.status === 'claimed'
    ? []
    : [{ type: 'UserEmailClaimed', data: { owner: command.owner, claimedAt: command.now } }];

export const releaseEmail = (state: UserEmailState, { owner }: { owner: string }): UserEmailEvent[] =>
  state.status === 'claimed' && state.owner === owner ? [{ type: 'UserEmailReleased', data: { owner } }] : [];
