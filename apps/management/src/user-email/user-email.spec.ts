import { given } from '@attestry/event-store';
import { claimEmail, releaseEmail } from './user-email.decisions.js';
import type { UserEmailEvent } from './user-email.events.js';
import { userEmail, userEmailStream, type UserEmailState } from './user-email.state.js';

const now = '2026-03-01T10:00:00.000Z';
const claimed = (owner: string): UserEmailEvent => ({ type: 'UserEmailClaimed', data: { owner, claimedAt: now } });
const released = (owner: string): UserEmailEvent => ({ type: 'UserEmailReleased', data: { owner } });
const claim = (owner: string) => (state: UserEmailState) => claimEmail(state, { owner, now });
const release = (owner: string) => (state: UserEmailState) => releaseEmail(state, { owner });

describe('an e-mail address', () => {
  it('is one user at a time, and only that one gives it back', () => {
    given(userEmail, [])
      .when(claim('u1'))
      .then([claimed('u1')]);
    given(userEmail, [claimed('u1')])
      .when(claim('u2'))
      .then([]);
    given(userEmail, [claimed('u1')])
      .when(claim('u2'))
      .thenState({ status: 'claimed', owner: 'u1' });
    given(userEmail, [claimed('u1')])
      .when(release('u2'))
      .then([]);
    given(userEmail, [claimed('u1')])
      .when(release('u1'))
      .then([released('u1')]);
    given(userEmail, [claimed('u1'), released('u1')])
      .when(claim('u2'))
      .then([claimed('u2')]);
    expect(userEmailStream('mac')).toBe('userEmail-mac');
  });
});
