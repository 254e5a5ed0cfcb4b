import { canonicalHost, hostOfAddress, splitTenantHost } from './hosts.js';

describe('canonicalHost', () => {
  it.each([
    ['acme.example', 'acme.example'],
    ['ACME.Example', 'acme.example'],
    ['acme.example.', 'acme.example'],
    ['acme.example:80', 'acme.example'],
    ['acme.example.:0080', 'acme.example'],
    ['acme.example:443', 'acme.example:443'],
    ['acme.localhost:8080', 'acme.localhost:8080'],
  ])('returns for %j the host %j', (text, host) => expect(canonicalHost(text, 'http')).toBe(host));

  it('removes only the default port of its own scheme', () => {
    expect(canonicalHost('a.b:443', 'https')).toBe('a.b');
    expect(canonicalHost('a.b:80', 'https')).toBe('a.b:80');
  });

  it.each([
    '',
    '.',
    ':80',
    'a b',
    'a\tb.example',
    'acme.example\n',
    '%61cme.example',
    'acme.example:0',
    'acme.example:65536',
    'acme.example:8080:1',
    'user@acme.example',
    'acme.example/x',
    'acme.example?x',
    'acme.example#x',
    'acme.example\\x',
    'аcme.example',
    'acme.example..',
    'x'.repeat(300),
  ])('refuses %j', (text) => expect(canonicalHost(text, 'http')).toBeUndefined());
});

describe('hostOfAddress', () => {
  it.each(['acme.example', 'acme.example/', 'http://acme.example', 'HTTP://ACME.example:80/'])(
    'returns the host of %j',
    (address) => expect(hostOfAddress(address, 'http')).toBe('acme.example'),
  );
  it.each(['https://acme.example', 'ftp://acme.example', '//acme.example', 'http://acme.example//', 'http://', '/'])(
    'refuses %j',
    (address) => expect(hostOfAddress(address, 'http')).toBeUndefined(),
  );
});

describe('splitTenantHost', () => {
  const environments = [
    { id: 'outer', domain: 'example' },
    { id: 'inner', domain: 'eu.example' },
    { id: 'port', domain: 'local:8080' },
  ];
  it.each([
    ['acme.example', 'outer', 'acme'],
    ['acme.eu.example', 'inner', 'acme'],
    ['acme.local:8080', 'port', 'acme'],
  ])('assigns %s to the environment %s', (host, id, subdomain) =>
    expect(splitTenantHost(host, environments, 'http')).toMatchObject({ environment: { id }, subdomain }),
  );
  it.each(['example', 'eu.example', 'a.b.example', 'acme.local', 'acmeexample', 'acme.example.org', '-ab.example'])(
    'assigns %s to no tenant',
    (host) => expect(splitTenantHost(host, environments, 'http')).toBeUndefined(),
  );
});
