import { given } from '@attestry/event-store';
import { claimLink } from './user-link.decisions.js';
import type { UserLinkEvent } from './user-link.events.js';
import { userLink, type UserLinkState } from './user-link.state.js';

const now = '2026-01-01T00:00:00.000Z';
const claimed = (owner: string): UserLinkEvent => ({ type: 'UserLinkClaimed', data: { owner, claimedAt: now } });
const claim = (owner: string, deletedOwner?: string) => (state: UserLinkState) =>
  claimLink(state, { owner, now }, deletedOwner === undefined ? {} : { deletedOwner });

describe('user link', () => {
  it('is the first who asks', () =>
    given(userLink, [])
      .when(claim('a'))
      .then([claimed('a')]));

  it('stays who it is', () =>
    given(userLink, [claimed('a')])
      .when(claim('b'))
      .then([]));

  it('is somebody new once that user was deleted, and only then', () => {
    given(userLink, [claimed('a')])
      .when(claim('b', 'a'))
      .thenState({ status: 'claimed', owner: 'b' });
    given(userLink, [claimed('a'), claimed('b')])
      .when(claim('c', 'a'))
      .then([]);
  });
});
