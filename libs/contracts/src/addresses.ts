/** A URL as RFC 3986 writes it, with the host that every reader finds in it: `https:host` and `https:\\host` are URLs for browsers only. */
const WRITTEN = /^[a-z][a-z0-9+.-]*:\/\/(?![/?#])[\w.~:/?#[\]@!$&'()*+,;=%-]+$/i;

/**
 * An address as given, so that it is stored, sent and called byte for byte; its ASCII form if it is not written as RFC 3986 requires,
 * for example with an internationalized host.
 * @param text of which `URL.canParse` is true
 */
export const asciiAddress = (text: string): string => (WRITTEN.test(text) ? text : new URL(text).href);

/** The name of a parameter of a query, decoded as `application/x-www-form-urlencoded`. */
const nameOf = (pair: string): string => [...new URLSearchParams(pair).keys()][0] ?? '';

/**
 * An address with further parameters. Its own query is kept byte for byte (RFC 6749 §3.1, §3.1.2), except for parameters with the names
 * given, which only the sender may set.
 * @param address without fragment
 */
export const withParameters = (
  address: string,
  parameters: URLSearchParams,
  names: Iterable<string> = parameters.keys(),
): string => {
  const [base, ...rest] = address.split('?');
  const own = rest.join('?');
  const left = new Set(names);
  const kept =
    own &&
    own
      .split('&')
      .filter((pair) => !left.has(nameOf(pair)))
      .join('&');
  const separator = kept === '' || kept.endsWith('&') ? '' : '&';
  return `${base}?${kept}${separator}${parameters.toString()}`;
};

/**
 * True for an address, or a text that was meant to be one, that may contain a password, also where the scheme was forgotten: it is neither
 * shown nor logged. E-mail addresses have neither colon nor slash before the `@`.
 */
export const mayHavePassword = (text: string): boolean => {
  const end = text.lastIndexOf('@');
  return end > 0 && /[:/\\]/.test(text.slice(0, end));
};

/** Characters of a name that a message shows. */
const MOST_SHOWN = 200;

/**
 * An address or name of a third party, for a message that shows it beside the right one: printable ASCII, without what may be a password.
 */
export const shownName = (name: unknown): string => {
  if (typeof name !== 'string') return 'a value that is no string';
  if (mayHavePassword(name)) return 'an address with a user name or password';
  const text = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}...` : name;
  // RFC 6749 §5.2: the characters that an error description may have.
  return text.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
};

/** True for a URL with a user name or a password. */
export const hasUserInformation = (url: string): boolean => {
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
};
