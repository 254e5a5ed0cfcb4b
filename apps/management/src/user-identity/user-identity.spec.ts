import { given } from '@attestry/event-store';
import { claimIdentity, reassignIdentity } from './user-identity.decisions.js';
import type { UserIdentityEvent } from './user-identity.events.js';
import { userIdentity, userIdentityStream, type UserIdentityState } from './user-identity.state.js';

const now = '2026-03-01T10:00:00.000Z';
const claimed = (owner: string): UserIdentityEvent => ({
  type: 'UserIdentityClaimed',
  data: { owner, claimedAt: now },
});
const claim = (owner: string) => (state: UserIdentityState) => claimIdentity(state, { owner, now });
const reassign = (from: string, owner: string) => (state: UserIdentityState) =>
  reassignIdentity(state, { from, owner, now });

describe('an identity', () => {
  it('is one user, whom only a lost race replaces', () => {
    given(userIdentity, [])
      .when(claim('u1'))
      .then([claimed('u1')]);
    given(userIdentity, [claimed('u1')])
      .when(claim('u2'))
      .then([]);
    given(userIdentity, [claimed('u1')])
      .when(reassign('u1', 'u2'))
      .then([claimed('u2')]);
    given(userIdentity, [claimed('u2')])
      .when(reassign('u1', 'u3'))
      .then([]);
    given(userIdentity, []).when(reassign('u1', 'u2')).then([]);
    expect(userIdentityStream('mac')).toBe('userIdentity-mac');
  });
});
