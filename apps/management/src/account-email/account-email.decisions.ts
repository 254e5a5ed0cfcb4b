import type { AccountEmailEvent } from './account-email.events.js';
import type { AccountEmailState } from './account-email.state.js';

/**
 * Nothing when it is claimed: the state tells for which account. One that was never opened is no fault, for whoever comes next
 * opens it under the same id.
 */
export const claimAccountEmail = (
  state: AccountEmailState,
  command: { owner: string; now: string },
): AccountEmailEvent[] =>
  state.status === 'claimed'
    ? []
    : [{ type: 'AccountEmailClaimed', data: { owner: command.owner, claimedAt: command.now } }];
