import type { UserLinkEvent } from './user-link.events.js';
import type { UserLinkState } from './user-link.state.js';

/**
 * Nothing when the person is a user already, of whom the state tells; one that was never written is completed under the same
 * id. Who was deleted comes back as somebody new.
 */
export const claimLink = (
  state: UserLinkState,
  command: { owner: string; now: string },
  facts: { deletedOwner?: string },
): UserLinkEvent[] =>
  state.status === 'claimed' && state.owner !== facts.deletedOwner
    ? []
    : [{ type: 'UserLinkClaimed', data: { owner: command.owner, claimedAt: command.now } }];
