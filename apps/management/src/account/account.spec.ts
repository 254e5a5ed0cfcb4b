import { given } from '@attestry/event-store';
import { accountNameFault, openAccount, passwordFault } from './account.decisions.js';
import type { AccountEvent } from './account.events.js';
import { account, accountStream, type AccountState } from './account.state.js';

const now = '2026-03-01T10:00:00.000Z';
const command = { accountId: 'a1', sealedEmail: 'e', sealedName: 'n', sealedPassword: 'p' };
const opened: AccountEvent = { type: 'AccountOpened', data: { ...command, openedAt: now } };
const open = (state: AccountState) => openAccount(state, command, { now });

describe('an account', () => {
  it('is opened once', () => {
    given(account, []).when(open).then([opened]);
    given(account, [opened]).when(open).thenThrows('Conflict');
    given(account, [opened]).thenState({
      status: 'open',
      id: 'a1',
      sealedEmail: 'e',
      sealedName: 'n',
      sealedPassword: 'p',
    });
    expect(accountStream('a1')).toBe('account-a1');
  });

  it.each<[string, RegExp | undefined]>([
    ['correct horse', undefined],
    ['ñandú ñandú ñ', undefined],
    ['x'.repeat(256), undefined],
    ['only eleven', /at least 12/],
    // Characters are counted, not units of UTF-16.
    ['😀'.repeat(11), /at least 12/],
    ['x'.repeat(257), /at most 256/],
    ['ADA@people.example!', /without your e-mail/],
  ])('takes passwords by their length: %s', (password, fault) => {
    const found = passwordFault(password, 'ada@people.example');
    if (fault) expect(found).toMatch(fault);
    else expect(found).toBeUndefined();
  });

  it('takes names that can be shown', () => {
    for (const name of ['Ada', '李', 'x'.repeat(255)]) expect(accountNameFault(name)).toBeUndefined();
    for (const name of ['', 'x'.repeat(256), 'a\nb', 'a\ud800']) expect(accountNameFault(name)).toBeDefined();
  });
});
