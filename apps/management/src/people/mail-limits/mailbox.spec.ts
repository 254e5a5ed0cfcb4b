import { mailboxOf } from './mailbox.js';

describe('a mailbox', () => {
  it.each([
    ['ada@people.example', 'ada@people.example'],
    [' ADA@People.Example ', 'ada@people.example'],
    ['ada+1@people.example', 'ada@people.example'],
    ['ada+a+b@people.example', 'ada@people.example'],
    ['+ada@people.example', '+ada@people.example'],
    ['ａｄａ@people.example', 'ada@people.example'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['a.d.a@people.example', 'a.d.a@people.example'],
    ['A.d.a+1@googlemail.com', 'ada@gmail.com'],
    ['ada@gmail.com', 'ada@gmail.com'],
    ['"a@b"@people.example', '"a@b"@people.example'],
  ])('of %s is %s', (email, mailbox) => expect(mailboxOf(email)).toBe(mailbox));
});
