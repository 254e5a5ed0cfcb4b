import { hasUserInformation, MAX_REDIRECT_URI } from '@attestry/contracts';

/** RFC 8252 §7.3; `localhost` too, although §8.3 advises wallets against it. */
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Schemes that browsers or operating systems handle themselves, so that no wallet can own them: they run or show content in the browser,
 * open files, or start a program that the authorization request chose. A name ending in `*` is a prefix. An address of such a scheme is
 * refused even when it is listed.
 */
export const REFUSED_SCHEMES: readonly string[] = [
  // Scripts and documents of the browser.
  ...['javascript', 'vbscript', 'livescript', 'data', 'blob', 'about', 'view-source', 'filesystem', 'jar', 'wyciwyg'],
  // The browser's own pages, tools and extensions, and browsers that open any address.
  ...['chrome*', 'devtools', 'resource', 'res', 'moz-extension', 'safari-web-extension', 'safari-extension'],
  ...[
    'edge',
    'microsoft-edge',
    'opera',
    'brave',
    'vivaldi',
    'firefox',
    'googlechrome',
    'googlechromes',
    'x-safari-https',
  ],
  // Files and shares.
  ...['file', 'ftp', 'ftps', 'sftp', 'smb', 'afp', 'nfs', 'dav', 'davs', 'shell'],
  // Handlers of Android, Windows and Apple systems that start or install any program, or open settings.
  ...['intent', 'intents', 'android-app', 'market', 'ms-*', 'search-ms', 'search', 'prefs', 'app-prefs'],
  ...['itms', 'itmss', 'itms-apps', 'itms-appss', 'itms-services', 'x-apple*', 'applescript', 'shortcuts', 'workflow'],
  // Connections, messages and calls in the user's name.
  ...['ws', 'wss', 'ssh', 'telnet', 'rdp', 'vnc', 'ldap', 'ldaps', 'mailto', 'tel', 'telprompt', 'sms', 'smsto', 'mms'],
  ...['mmsto', 'facetime', 'facetime-audio', 'callto', 'sip', 'sips', 'xmpp', 'geo', 'feed'],
];
const isRefusedScheme = (scheme: string): boolean =>
  REFUSED_SCHEMES.some((refused) =>
    refused.endsWith('*') ? scheme.startsWith(refused.slice(0, -1)) : scheme === refused,
  );

const REDIRECT_FAULT =
  'must be an https URL, an http URL of a loopback host, or a URL with a private-use scheme of the wallet, without a fragment';

/**
 * Why an address cannot be a redirect URI: RFC 3986 §2, RFC 8252 §7: https, http to the machine itself, or a scheme that a wallet can have
 * registered.
 */
export const redirectFault = (redirectUri: string): string | undefined => {
  if (!/^[\x21-\x7e]*$/.test(redirectUri))
    return 'must have only printable ASCII characters, without spaces: others must be percent-encoded';
  return isUsable(redirectUri) ? undefined : REDIRECT_FAULT;
};

const isUsable = (redirectUri: string): boolean => {
  if (redirectUri.length > MAX_REDIRECT_URI || redirectUri.includes('#') || !URL.canParse(redirectUri)) return false;
  if (hasUserInformation(redirectUri)) return false;
  const { protocol, hostname } = new URL(redirectUri);
  const scheme = protocol.slice(0, -1);
  if (scheme !== 'http' && scheme !== 'https') return !isRefusedScheme(scheme);
  // The address is sent as it is: browsers alone find a host after other slashes than these two, or a path after a backslash.
  if (!/^https?:\/\/[^/\\][^\\]*$/i.test(redirectUri)) return false;
  return scheme === 'https' || LOOPBACK.has(hostname);
};

const LOOPBACK_PORT = /^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):[0-9]{1,5}(?=[/?]|$)/;
/** RFC 8252 §7.3: the port is chosen by the operating system for each request. */
const withoutLoopbackPort = (redirectUri: string): string => redirectUri.replace(LOOPBACK_PORT, '$1');

/** Compared as strings (RFC 9700 §4.1.3), except for the port of a loopback host. */
export const isRegisteredRedirect = (redirectUri: string, registered: readonly string[]): boolean =>
  registered.some((one) => withoutLoopbackPort(one) === withoutLoopbackPort(redirectUri));
