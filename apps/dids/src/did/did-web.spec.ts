import fc from 'fast-check';
import {
  MAX_DID_LENGTH,
  didOfDocumentPath,
  didSegmentOf,
  didWebHost,
  didWebOf,
  didWebUrl,
  isDid,
  parseAddress,
} from './did-web.js';

const faultOf = (address: string): string => {
  const parsed = parseAddress(address);
  return 'fault' in parsed ? parsed.fault : `accepted as ${parsed.did}`;
};

describe('the did:web of an address', () => {
  // The first three are the examples of the did:web specification, §3.1.
  it.each([
    ['w3c-ccg.github.io', 'did:web:w3c-ccg.github.io'],
    ['https://w3c-ccg.github.io/user/alice', 'did:web:w3c-ccg.github.io:user:alice'],
    ['example.com:3000/user/alice', 'did:web:example.com%3A3000:user:alice'],
    ['https://example.com', 'did:web:example.com'],
    ['https://example.com/', 'did:web:example.com'],
    ['HTTPS://Example.COM:443/A/', 'did:web:example.com:A'],
    ['acme.localhost:8080', 'did:web:acme.localhost%3A8080'],
    ['localhost', 'did:web:localhost'],
    ['xn--bcher-kva.example', 'did:web:xn--bcher-kva.example'],
    ['example.com/a%2Eb', 'did:web:example.com:a.b'],
    ['example.com/a:b@c~', 'did:web:example.com:a%3Ab%40c%7E'],
    ['example.com/%c3%a9', 'did:web:example.com:%C3%A9'],
  ])('%s is %s', (address, did) => expect(parseAddress(address)).toMatchObject({ did }));

  it.each([
    ['127.0.0.1', 'IP address'],
    ['127.0.0.1:8080/x', 'IP address'],
    ['2130706433', 'IP address'],
    ['0x7f.1', 'IP address'],
    ['example.0x7f', 'IP address'],
    ['[::1]', 'IP address'],
    ['https://[::1]:8080/', 'IP address'],
    ['https://user@example.com', 'user name or password'],
    ['user:password@example.com', 'user name or password'],
    ['example.com?x=1', 'query'],
    ['example.com/a?x', 'query'],
    ['example.com#a', 'fragment'],
    ['http://example.com', 'scheme'],
    ['ftp://example.com', 'scheme'],
    ['did:web:example.com', 'domain name'],
    ['', 'domain name'],
    ['https://', 'domain name'],
    ['/a', 'domain name'],
    [' example.com', 'domain name'],
    ['example.com.', 'domain name'],
    ['-a.example', 'domain name'],
    ['a..example', 'domain name'],
    ['a_b.example', 'domain name'],
    ['bücher.example', 'domain name'],
    ['example.com\\a', 'domain name'],
    [`${'a'.repeat(64)}.example`, 'domain name'],
    ['example.com:0', 'port'],
    ['example.com:080', 'port'],
    ['example.com:65536', 'port'],
    ['example.com:', 'domain name'],
    ['example.com//a', 'path'],
    ['example.com/a//', 'path'],
    ['example.com/./a', 'path'],
    ['example.com/../a', 'path'],
    ['example.com/%2e%2E/a', 'path'],
    ['example.com/a%2Fb', 'path'],
    ['example.com/a%5cb', 'path'],
    ['example.com/a%00', 'path'],
    ['example.com/a%', 'path'],
    ['example.com/%ff', 'path'],
    ['example.com/a b', 'path'],
    ['example.com/é', 'path'],
    ['example.com/.well-known', '.well-known'],
    [`example.com/${'a'.repeat(MAX_DID_LENGTH)}`, 'short enough'],
  ])('%j is refused: %s', (address, fault) => expect(faultOf(address)).toContain(fault));
});

describe('did:web, for any address', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const label = fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,10}$/);
  const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
  const port = fc.option(fc.integer({ min: 1, max: 65535 }), { nil: undefined });
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .filter((text) => text.isWellFormed() && !['.', '..', '.well-known'].includes(text) && !/[\p{Cc}/\\]/u.test(text));
  const address = fc.record({ name, port, path: fc.array(segment, { maxLength: 4 }), scheme: fc.boolean() });
  const textOf = ({ name, port, path, scheme }: { name: string; port?: number; path: string[]; scheme: boolean }) =>
    (scheme ? 'https://' : '') +
    [port === undefined ? name : `${name}:${port}`, ...path.map(encodeURIComponent)].join('/');

  it('host, port and path can be read back from the DID, as the WHATWG parser returns them', () =>
    fc.assert(
      fc.property(address, (parts) => {
        const parsed = parseAddress(textOf(parts));
        fc.pre(!('fault' in parsed && parsed.fault.includes('short enough')));
        if ('fault' in parsed) throw new Error(parsed.fault);
        const url = new URL(textOf({ ...parts, scheme: true }));
        const [, , host, ...segments] = parsed.did.split(':');
        expect(decodeURIComponent(host!)).toBe(url.host);
        expect(parsed.host).toBe(url.host);
        expect(segments.map(decodeURIComponent)).toEqual(parts.path);
        expect(isDid(parsed.did)).toBe(true);
      }),
    ));

  it('the document is requested at the URL defined by did:web', () =>
    fc.assert(
      fc.property(address, (parts) => {
        const parsed = parseAddress(textOf(parts));
        fc.pre('did' in parsed);
        const { host, did } = parsed as { host: string; did: string };
        const path =
          parts.path.length === 0 ? '/.well-known' : parts.path.map((part) => `/${encodeURIComponent(part)}`).join('');
        expect(didOfDocumentPath(host, `${path}/did.json`)).toBe(did);
      }),
    ));

  it('any text results in a fault or a well-formed DID that parses to itself', () =>
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.webUrl(), fc.stringMatching(/^[a-z.:/%@#?[\]\\0-9]{1,40}$/)), (text) => {
        const parsed = parseAddress(text);
        if ('fault' in parsed) return;
        expect(isDid(parsed.did)).toBe(true);
        expect(parsed.did.length).toBeLessThanOrEqual(MAX_DID_LENGTH);
        expect(parseAddress([parsed.host, ...parsed.segments].join('/'))).toEqual(parsed);
      }),
      { numRuns: 1000 },
    ));

  it('percent-encoding an octet, in either case, does not change the DID', () =>
    fc.assert(
      fc.property(fc.constantFrom(...letters), (letter) => {
        const hex = letter.charCodeAt(0).toString(16);
        expect(didSegmentOf(`%${hex}`)).toBe(letter);
        expect(didSegmentOf(`%${hex.toUpperCase()}`)).toBe(letter);
      }),
    ));
});

describe('the DID of a requested document', () => {
  it.each([
    ['/.well-known/did.json', 'did:web:acme.localhost%3A8080'],
    ['/.well-known/did.json?x=1', 'did:web:acme.localhost%3A8080'],
    ['/a/did.json', 'did:web:acme.localhost%3A8080:a'],
    ['/a/%62%40/did.json', 'did:web:acme.localhost%3A8080:a:b%40'],
  ])('%s is %s', (url, did) => expect(didOfDocumentPath('acme.localhost:8080', url)).toBe(did));

  it.each([
    '/did.json',
    '//did.json',
    '/a//did.json',
    '/../did.json',
    '/a%2Fb/did.json',
    '/%ff/did.json',
    '/a',
    '',
    'did.json',
  ])('does not exist for the path %j', (url) => expect(didOfDocumentPath('acme.localhost:8080', url)).toBeUndefined());

  it('omits the default port of https', () => expect(didWebOf('Acme.example:443', [])).toBe('did:web:acme.example'));
});

describe('the syntax of a DID', () => {
  it.each(['did:key:z6Mk', 'did:web:a.example%3A8080:b', 'did:x::y'])('accepts %s', (text) =>
    expect(isDid(text)).toBe(true),
  );
  it.each([
    'did:web:',
    'did:web:a:',
    'DID:web:a',
    'did:web:a%3',
    'did:web:a#k',
    'did:web:a/b',
    'did:we b:a',
    'x',
    'did:web:a\n',
  ])('refuses %j', (text) => expect(isDid(text)).toBe(false));
});

describe('the URL of a did:web document', () => {
  it.each<[string, boolean, string | undefined]>([
    ['did:web:acme.example', false, 'https://acme.example/.well-known/did.json'],
    ['did:web:ACME.example%3A8443:a:b%20c', false, 'https://acme.example:8443/a/b%20c/did.json'],
    ['did:web:acme.localhost%3A8080', false, 'https://acme.localhost:8080/.well-known/did.json'],
    ['did:web:acme.localhost%3a8080:a', true, 'http://acme.localhost:8080/a/did.json'],
    ['did:web:notlocalhost%3A80', true, 'https://notlocalhost:80/.well-known/did.json'],
    ['did:web:127.0.0.1', true, undefined],
    ['did:web:a%2Fb', false, undefined],
    ['did:web:user%40a.example', false, undefined],
    ['did:web:a.example:..', false, undefined],
    ['did:web:a.example:a%2Fb', false, undefined],
    ['did:web:a.example::b', false, undefined],
    ['did:key:z6Mk', false, undefined],
  ])('for %s with http to localhost allowed (%s) is %s', (did, isLocal, url) =>
    expect(didWebUrl(did, isLocal)).toBe(url),
  );

  it('is on its host', () => {
    expect(didWebHost('did:web:Acme.example%3A8443:a')).toBe('acme.example:8443');
    expect(didWebHost('did:key:z6Mk')).toBeUndefined();
  });
});
