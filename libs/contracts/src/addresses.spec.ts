import { asciiAddress, mayHavePassword, shownName, withParameters } from './addresses.js';
import { AppError, invalid } from './app-error.js';
import { loggedRequest } from './logged-data.js';
import { createWebhook } from './webhooks/webhooks.operations.js';

describe('an address that may contain a password [T607]', () => {
  const PASSWORDS = [
    'https://user:secret@host.example/',
    'https://user:se/cret@host.example/',
    'https://user:se cret@host.example/',
    'https:user:secret@host.example',
    'https:\\\\user:secret@host.example',
    '//user:secret@host.example',
    'user:secret@host.example',
    'https://secret@host.example',
    ' https://user:sec@ret@host.example ',
    'org.example.wallet://user:secret@x',
  ];

  it.each(PASSWORDS)('is neither in an error nor in recorded data: %s', (url) => {
    expect(mayHavePassword(url)).toBe(true);
    for (const value of [url, [url], { url }, { a: [{ b: url }] }])
      expect(invalid({ value, msg: 'm', param: 'url', location: 'body' }).details).toEqual([
        { msg: 'm', param: 'url', location: 'body' },
      ]);
    const wire = { kind: 'invalid', code: 'BadRequest', message: 'm' } as const;
    const details = [{ value: url, msg: 'm', param: 'url', location: 'body' as const }];
    expect(JSON.stringify(AppError.fromWire({ ...wire, details }).toWire())).not.toContain('secret');
    const logged = loggedRequest(createWebhook, 3, { body: { url, events: ['x'] } } as never);
    expect(JSON.stringify(logged)).toContain('"url":"***"');
  });

  it.each(['https://host.example/', 'ann@host.example', 'a:b', '@context', 'urn:example:a', 7, null, ['a@b', 'c:d']])(
    'is no other value: %j',
    (value) =>
      expect(invalid({ value, msg: 'm', param: 'x', location: 'body' }).details).toEqual([
        { value, msg: 'm', param: 'x', location: 'body' },
      ]),
  );

  it('is found in time that grows with its length', () => {
    const started = performance.now();
    for (const text of [':'.repeat(512_000), '@'.repeat(512_000)]) mayHavePassword(text);
    expect(performance.now() - started).toBeLessThan(500);
  });
});

describe('a name of a third party in a message [T771]', () => {
  it.each([
    ['https://idp.example/realms/x', 'https://idp.example/realms/x'],
    ['a"b\\c\r\n\u202eé', 'a?b?c????'],
    ['x'.repeat(201), `${'x'.repeat(200)}...`],
    ['https://user:word@idp.example', 'an address with a user name or password'],
    [undefined, 'a value that is no string'],
    [{ issuer: 'x' }, 'a value that is no string'],
  ])('%j is shown as %s', (name, shown) => expect(shownName(name)).toBe(shown));
});

describe('an address with parameters [T606]', () => {
  it('keeps its own query byte for byte, and has no parameter twice', () => {
    const parameters = new URLSearchParams({ client_id: 'a b', prompt: 'none' });
    expect(withParameters('https://idp.example/a?x=%20&flag&prompt=login', parameters)).toBe(
      'https://idp.example/a?x=%20&flag&client_id=a+b&prompt=none',
    );
  });

  it('is in ASCII only if it is not written as RFC 3986 requires', () => {
    for (const kept of ['https://A.example:443/%7e/../b?c=%20&d', 'org.example://x/(a)', 'https://[::1]:80'])
      expect(asciiAddress(kept)).toBe(kept);
    expect(asciiAddress('https://bücher.example/ü')).toBe('https://xn--bcher-kva.example/%C3%BC');
    expect(asciiAddress('https:a.example')).toBe('https://a.example/');
    expect(asciiAddress('https:///a.example')).toBe('https://a.example/');
    expect(asciiAddress('https://a.example\\b')).toBe('https://a.example/b');
  });
});
