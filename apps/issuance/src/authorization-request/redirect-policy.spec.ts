import { decideRedirect, redirectPolicyOf, REFUSED_SCHEMES } from './redirect-policy.js';

const LISTED = 'https://wallet.example/back';
const development = redirectPolicyOf({ nodeEnv: 'development', walletRedirectUris: undefined });
const production = redirectPolicyOf({ nodeEnv: 'production', walletRedirectUris: undefined });
const listed = redirectPolicyOf({ nodeEnv: 'production', walletRedirectUris: [LISTED] });

describe('the redirect policy', () => {
  it.each([
    ...['https://wallet.example/back', 'HTTPS://wallet.example', 'http://127.0.0.1:3000/', 'http://[::1]/x'],
    ...['http://localhost/back', 'org.example.wallet:/back', 'openid-credential-offer://', 'haip://authorize'],
    ...['eudi-openid4ci://authorize', 'msal-wallet://back', 'edgewallet://back'],
  ])('in development without a list: %s', (redirectUri) =>
    expect(decideRedirect(redirectUri, development)).toBe('allowed'),
  );

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
  ])('never: %s', (redirectUri) => {
    for (const policy of [development, production, { allowed: [redirectUri], rendersPages: true }])
      expect(decideRedirect(redirectUri, policy)).toBe('unusable');
  });

  it('in production refuses every address without a list, and otherwise compares exactly with the list', () => {
    expect(decideRedirect(LISTED, production)).toBe('unlisted');
    expect(decideRedirect('http://127.0.0.1/', production)).toBe('unlisted');
    expect(decideRedirect(LISTED, listed)).toBe('allowed');
    for (const other of [`${LISTED}/`, `${LISTED}?a=1`, 'https://wallet.example/Back', 'org.example.wallet:/back'])
      expect(decideRedirect(other, listed)).toBe('unlisted');
    expect([development, production, listed].map(({ rendersPages }) => rendersPages)).toEqual([false, true, true]);
    expect(redirectPolicyOf({ nodeEnv: 'development', walletRedirectUris: [LISTED] })).toEqual(listed);
  });

  it('lists each refused scheme once, in the spelling used for the comparison', () => {
    expect(new Set(REFUSED_SCHEMES).size).toBe(REFUSED_SCHEMES.length);
    for (const scheme of REFUSED_SCHEMES) expect(scheme).toMatch(/^[a-z][a-z0-9.-]*\*?$/);
  });
});
