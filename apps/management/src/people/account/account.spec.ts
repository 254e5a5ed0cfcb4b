import { given, stateAfter } from '@attestry/event-store';
import { accountNameFault, openAccount, passwordFault } from './account.decisions.js';
import type { AccountEvent } from './account.events.js';
import { commonPasswords } from '../sign-in/common-passwords.js';
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
    ['ñandú y ñu 12', undefined],
    ['a lamp, a mug, a key. '.repeat(12).slice(0, 250) + 'and so', undefined],
    ['only eleven', /at least 12/],
    // Characters are counted, not units of UTF-16.
    ['😀'.repeat(11), /at least 12/],
    ['x'.repeat(257), /at most 256/],
    ['ADA.Lovelace@people.example!', /does not contain your e-mail address or a part/],
    ['my name is lovelace', /does not contain your e-mail address or a part/],
    ['ＬＯＶＥＬＡＣＥ is my name', /does not contain your e-mail address or a part/],
    ['at people.example', /does not contain your e-mail address or a part/],
    ['aaaaaaaaaaaa', /at least 5 different characters/],
    ['abababababab', /at least 5 different characters/],
    ['abcdabcdabcd', /at least 5 different characters/],
    ['1121121112211', /at least 5 different characters/],
    ['tulip!tulip!tul', /not one pattern repeated/],
    ['passwordpassword', /not one pattern repeated/],
    ['TulipstulipsTULIPS', /not one pattern repeated/],
    ['1Q2w3e4r5t6y', /not a common one/],
    ['Needforspeed', /not a common one/],
    ['sunshine2026!', /not a common one/],
    ['ＰＡＳＳＷＯＲＤ1234', /not a common one/],
    ['sunshine over brno', undefined],
    // A part of three letters occurs by chance.
    ['a canada goose', undefined],
  ])('accepts or refuses the password %s', async (password, fault) => {
    const found = passwordFault(password, 'ada.lovelace@people.example', await commonPasswords());
    if (fault) expect(found).toMatch(fault);
    else expect(found).toBeUndefined();
  });

  it('refuses at least 10,000 common passwords', async () => {
    const common = await commonPasswords();
    expect(common.size).toBeGreaterThanOrEqual(10_000);
    for (const one of ['password', 'administrator', '123456789012']) expect(common.has(one)).toBe(true);
  });

  it('accepts displayable names', () => {
    for (const name of ['Ada', '李', 'x'.repeat(255)]) expect(accountNameFault(name)).toBeUndefined();
    for (const name of ['', 'x'.repeat(256), 'a\nb', 'a\ud800']) expect(accountNameFault(name)).toBeDefined();
  });
});

describe('the rules for passwords', () => {
  const fault = (password: string, { email = 'x@y.z', common = [] as string[] } = {}) =>
    passwordFault(password, email, new Set(common));
  const ofAddress = 'Choose a password that does not contain your e-mail address or a part of it';
  const ofCommon = 'Choose a password that is not a common one, with or without digits or symbols at its end';

  it('find the parts of an address that has spaces around it, from four letters on', () => {
    expect(fault('blue-example-1', { email: ' x@y.example ' })).toBe(ofAddress);
    expect(fault('we the people 12', { email: 'x@people.example' })).toBe(ofAddress);
    expect(fault('mountain-anna-1', { email: 'anna@y.z' })).toBe(ofAddress);
    expect(fault('mountain-ann-12', { email: 'ann@y.z' })).toBeUndefined();
  });

  it('allow five different characters', () => {
    expect(fault('abcdeedcbaab')).toBeUndefined();
    expect(fault('abcddcbaabbc')).toBe(
      'Choose a password with at least 5 different characters that is not one pattern repeated',
    );
  });

  it('compare the whole password with the common ones, without spaces around it and without the end that is no letter', () => {
    expect(fault('blue-house-42', { common: ['blue-house-42'] })).toBe(ofCommon);
    expect(fault(' blue-house-42 ', { common: ['blue-house-42'] })).toBe(ofCommon);
    expect(fault('sunshine-2026', { common: ['sunshine'] })).toBe(ofCommon);
    expect(fault('2026-07-sunshine', { common: ['sunshine'] })).toBeUndefined();
    expect(fault('abcd-12345678', { common: ['abcd'] })).toBe(ofCommon);
    expect(fault('abc-123456789', { common: ['abc'] })).toBeUndefined();
  });
});

describe('refusals of an account', () => {
  it('say what is wrong with the name', () => {
    expect(accountNameFault('')).toBe('Enter your name');
    expect(accountNameFault('x'.repeat(256))).toBe('Enter a name of at most 255 characters');
    for (const name of ['a\nb', 'a\ud800'])
      expect(accountNameFault(name)).toBe('Enter a name without control characters');
  });

  it('say that it already exists', () =>
    expect(() => open(stateAfter(account, [opened]))).toThrow('The account already exists'));
});
