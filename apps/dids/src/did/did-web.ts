import { isUtf8 } from 'node:buffer';

/** A did:web this platform creates; percent-encoded in a path (up to three times as long) it fits into every limit. */
export const MAX_DID_LENGTH = 512;

/** DID Core §3.1. */
const DID = /^did:[a-z0-9]+:(?:(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})*:)*(?:[A-Za-z0-9._-]|%[0-9A-Fa-f]{2})+$/;
export const isDid = (text: string): boolean => DID.test(text);

/** RFC 3986 pchar. */
const SEGMENT = /^(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+$/;
const IDCHAR = /[A-Za-z0-9._-]/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * A path segment as a DID holds it: decoded, then everything but DID Core's idchars percent-encoded in upper case, so
 * that one address has one DID. `undefined` for what no path segment may be: dot segments, encoded slashes, control
 * characters, octets that are no UTF-8.
 */
export const didSegmentOf = (segment: string): string | undefined => {
  if (!SEGMENT.test(segment)) return undefined;
  const octets = Buffer.from(
    segment.replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );
  if (!isUtf8(octets)) return undefined;
  const text = octets.toString('utf8');
  if (text === '.' || text === '..' || /[\p{Cc}/\\]/u.test(text)) return undefined;
  return [...octets]
    .map((octet) => {
      const character = String.fromCharCode(octet);
      return IDCHAR.test(character) ? character : `%${octet.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
};

/** did:web §3.1: the port's colon is percent-encoded, path segments follow as colon parts. 443 is the port of https and left out. */
export const didWebOf = (host: string, segments: readonly string[]): string =>
  ['did:web', host.toLowerCase().replace(/:443$/, '').replace(':', '%3A'), ...segments].join(':');

export type ParsedAddress = { did: string; host: string; segments: string[] } | { fault: string };

const FORM = 'must be a host, an https URL, or a host with path';

/** The did:web of a host, an https URL, or a host with path; or what is wrong with it. */
export const parseAddress = (address: string): ParsedAddress => {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(address);
  if (scheme && scheme[1]!.toLowerCase() !== 'https') return { fault: 'must not have a scheme other than https' };
  const rest = address.slice(scheme?.[0].length ?? 0);
  if (rest.includes('#')) return { fault: 'must not have a fragment' };
  if (rest.includes('?')) return { fault: 'must not have a query' };
  const [authority = '', ...path] = rest.split('/');
  if (authority.includes('@')) return { fault: 'must not contain a user name or password' };
  const host = parseHost(authority);
  if ('fault' in host) return host;
  if (path.at(-1) === '') path.pop();
  const segments: string[] = [];
  for (const part of path) {
    const segment = didSegmentOf(part);
    if (segment === undefined) return { fault: `${FORM}; the path is not well-formed` };
    segments.push(segment);
  }
  if (segments.length === 1 && segments[0] === '.well-known')
    return { fault: 'must not have the path /.well-known, where the DID document of the host itself is published' };
  const did = didWebOf(host.host, segments);
  if (did.length > MAX_DID_LENGTH)
    return { fault: `must be short enough for a DID of at most ${MAX_DID_LENGTH} characters` };
  return { did, host: host.host, segments };
};

const parseHost = (authority: string): { host: string } | { fault: string } => {
  if (authority.includes('[')) return { fault: 'must not be an IP address' };
  const [, name = '', port] = /^([^:]+)(?::(\d{1,5}))?$/.exec(authority) ?? [];
  const host = name.toLowerCase();
  const labels = host.split('.');
  // Browsers parse hosts in this way: one that ends in a number is an IPv4 address, whatever its notation.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1)!)) return { fault: 'must not be an IP address' };
  if (host.length > 253 || !labels.every((label) => LABEL.test(label)))
    return { fault: `${FORM}; the host is not a domain name (write internationalized names in their xn-- form)` };
  if (port === undefined || port === '443') return { host };
  if (port.startsWith('0') || Number(port) > 65535) return { fault: 'must have a port from 1 to 65535' };
  return { host: `${host}:${port}` };
};

/** Host, and port where there is one, of a did:web; `undefined` for other methods. */
export const didWebHost = (did: string): string | undefined => {
  const [scheme, method, host] = did.split(':');
  return scheme === 'did' && method === 'web' && host !== undefined
    ? host.toLowerCase().replace(/%3a/, ':')
    : undefined;
};

/**
 * did:web §3.2: where the document of a DID is. `undefined` when its host is none, or a part is no path segment.
 * @param isLocal whether hosts below localhost, for which there are no certificates, are requested over http
 */
export const didWebUrl = (did: string, isLocal: boolean): string | undefined => {
  const address = didWebHost(did);
  const host = address === undefined ? { fault: 'no did:web' } : parseHost(address);
  if ('fault' in host) return undefined;
  const segments = did.split(':').slice(3).map(didSegmentOf);
  if (!segments.every((segment) => segment !== undefined)) return undefined;
  const scheme = isLocal && /(?:^|\.)localhost(?::\d+)?$/.test(host.host) ? 'http' : 'https';
  return `${scheme}://${host.host}/${segments.length ? segments.join('/') : '.well-known'}/did.json`;
};

/** The did:web whose document is requested by `…/did.json` on this host; `undefined` when there can be none. */
export const didOfDocumentPath = (host: string, url: string): string | undefined => {
  const path = url.split('?', 1)[0]!;
  if (path === '/.well-known/did.json') return didWebOf(host, []);
  if (!path.startsWith('/') || !path.endsWith('/did.json')) return undefined;
  const segments = path.slice(1, -'/did.json'.length).split('/').map(didSegmentOf);
  return segments.every((segment) => segment !== undefined) ? didWebOf(host, segments) : undefined;
};
