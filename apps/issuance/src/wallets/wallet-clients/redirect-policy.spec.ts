import { isRegisteredRedirect, redirectFault, REFUSED_SCHEMES } from './redirect-policy.js';

describe('a redirect URI', () => {
  it.each([
    ...['https://wallet.example/back', 'HTTPS://wallet.example', 'http://127.0.0.1:3000/', 'http://[::1]/x'],
    ...['http://localhost/back', 'org.example.wallet:/back', 'openid-credential-offer://', 'haip://authorize'],
    ...['eudi-openid4ci://authorize', 'msal-wallet://back', 'edgewallet://back'],
  ])('can be of a wallet: %s', (redirectUri) => expect(redirectFault(redirectUri)).toBeUndefined());

  it.each([
    ...[
      'intent://x/y',
      'intent:x',
      'INTENT:x',
      'ms-settings:privacy',
      'ms-word:ofe|u|https://x',
      'ms-appinstaller:?source=x',
    ],
    ...['chrome://settings', 'chrome-extension://abc/page.html', 'chrome-search:x', 'javascript:alert(1)'],
    ...['JaVaScRiPt:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'about:blank', 'blob:https://x/y'],
    ...['view-source:https://x', 'vbscript:x', 'filesystem:https://x/y', 'jar:https://x!/y', 'search-ms:query=x'],
    ...['itms-services://?action=download-manifest', 'android-app://x', 'ws://x/', 'wss://x/', 'ftp://x/y'],
    ...['mailto:a@b.example', 'tel:112', 'sms:112', 'microsoft-edge:https://x', 'x-apple.systempreferences:x'],
    ...[
      'http://wallet.example/back',
      'http://127.0.0.2/',
      'http://localhost.evil.example/',
      'http://0x7f.1.evil.example/',
    ],
    ...['https://user@wallet.example/', 'https://wallet.example/#x', 'wallet.example', '', '//wallet.example'],
    ...[`https://wallet.example/${'x'.repeat(2048)}`, 'https://wallet.example/ ', '\tjavascript:alert(1)'],
  ])('never: %s', (redirectUri) => expect(redirectFault(redirectUri)).toEqual(expect.any(String)));

  it.each([
    'https://wallet.example/ü',
    'https://bücher.example/',
    'https://wallet.example/a b',
    '\u0000',
    'https://w.example/\n',
  ])('that is not printable ASCII is named as such: %j [T605]', (redirectUri) =>
    expect(redirectFault(redirectUri)).toBe(
      'must have only printable ASCII characters, without spaces: others must be percent-encoded',
    ),
  );

  it.each([
    'https:wallet.example/',
    'https:///wallet.example/',
    'https:\\\\wallet.example/',
    'https://wallet.example\\@evil.example/',
    'http:127.0.0.1/',
  ])('names one host for every reader, as it is sent byte for byte: %s [T605]', (redirectUri) =>
    expect(redirectFault(redirectUri)).toContain('must be an https URL'),
  );

  it('is compared with the registered ones as a string [T212]', () => {
    const registered = ['https://wallet.example/back', 'org.example.wallet:/back', 'https://wallet.example:8443/back'];
    for (const same of registered) expect(isRegisteredRedirect(same, registered)).toBe(true);
    for (const other of [
      ...['https://wallet.example/back/', 'https://wallet.example/Back', 'https://wallet.example/back?a=1'],
      ...['https://wallet.example:443/back', 'https://wallet.example:8444/back', 'https://WALLET.example/back'],
      ...['https://wallet.example/', 'https://evil.example/back', 'org.example.wallet:/', 'ORG.example.wallet:/back'],
    ])
      expect([other, isRegisteredRedirect(other, registered)]).toEqual([other, false]);
    expect(isRegisteredRedirect('https://wallet.example/back', [])).toBe(false);
  });

  it.each(['127.0.0.1', '[::1]', 'localhost'])('of the loopback host %s has any port [T212]', (host) => {
    for (const registered of [`http://${host}/back?a=1`, `http://${host}:3000/back?a=1`]) {
      for (const port of ['', ':1', ':65535'])
        expect(isRegisteredRedirect(`http://${host}${port}/back?a=1`, [registered])).toBe(true);
      for (const other of [
        ...[`http://${host}:1/back`, `http://${host}:1/other?a=1`, `http://${host}:1x/back?a=1`],
        ...[`http://${host}:1@evil.example/back?a=1`, `https://${host}:1/back?a=1`, `http://${host}:123456/back?a=1`],
        `http://${host}.evil.example:1/back?a=1`,
      ])
        expect([other, isRegisteredRedirect(other, [registered])]).toEqual([other, false]);
    }
    expect(isRegisteredRedirect(`http://${host}:1`, [`http://${host}`])).toBe(true);
    expect(isRegisteredRedirect('http://127.0.0.1/', ['http://localhost/'])).toBe(false);
  });

  it('lists each refused scheme once, in the spelling used for the comparison', () => {
    expect(new Set(REFUSED_SCHEMES).size).toBe(REFUSED_SCHEMES.length);
    for (const scheme of REFUSED_SCHEMES) expect(scheme).toMatch(/^[a-z][a-z0-9.-]*\*?$/);
  });
});
