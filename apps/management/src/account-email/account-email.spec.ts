import { given } from '@attestry/event-store';
import { claimAccountEmail } from './account-email.decisions.js';
import type { AccountEmailEvent } from './account-email.events.js';
import { accountEmail, accountEmailStream, type AccountEmailState } from './account-email.state.js';

const now = '2026-03-01T10:00:00.000Z';
const claim = (owner: string) => (state: AccountEmailState) => claimAccountEmail(state, { owner, now });
const claimed: AccountEmailEvent = { type: 'AccountEmailClaimed', data: { owner: 'a1', claimedAt: now } };

describe('the e-mail address of an account', () => {
  it('is one account’s for good', () => {
    given(accountEmail, []).when(claim('a1')).then([claimed]);
    given(accountEmail, [claimed]).when(claim('a2')).then([]);
    given(accountEmail, [claimed]).thenState({ status: 'claimed', owner: 'a1' });
    expect(accountEmailStream('m')).toBe('accountEmail-m');
  });
});
