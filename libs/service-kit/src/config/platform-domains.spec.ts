import { platformDomains, platformHostTest } from './platform-domains.js';

const environment = (domain: string, authorizationServerDomain: string) => ({
  ...{ id: 'e', name: 'E', domain, authorizationServerDomain },
  ...{ deploymentModel: 'x', region: 'x' },
});
const production = {
  managementDomain: 'management.issue.example.org',
  contextUrl: 'https://contexts.issue.example.org/v1',
  environments: [
    environment('issue.example.org', 'auth.issue.example.org'),
    environment('eu.example.net:8443', 'login.example.com'),
  ],
} as unknown as Parameters<typeof platformHostTest>[0];
const development = {
  managementDomain: 'management.localhost:8080',
  contextUrl: 'http://contexts.localhost:8080/v1',
  environments: [environment('localhost:8080', 'auth.localhost:8080')],
} as unknown as Parameters<typeof platformHostTest>[0];

describe('hosts of the platform', () => {
  it.each([
    'issue.example.org',
    'issue.example.org:8443',
    'ACME.issue.example.org',
    'acme.issue.example.org:1',
    'deep.acme.issue.example.org',
    'management.issue.example.org',
    'contexts.issue.example.org',
    'login.example.com',
    'x.login.example.com',
    'eu.example.net',
    'acme.eu.example.net:8443',
  ])('include %s', (host) => expect(platformHostTest(production)(host)).toBe(true));

  it.each(['example.org', 'notissue.example.org', 'issue.example.org.evil.example', 'example.com', 'example.net:8443'])(
    'do not include %s',
    (host) => expect(platformHostTest(production)(host)).toBe(false),
  );

  it('in development do not include other ports of the machine', () => {
    const isPlatformHost = platformHostTest(development);
    for (const host of ['localhost:8080', 'acme.localhost:8080', 'acme.localhost', 'management.localhost:1'])
      expect([host, isPlatformHost(host)]).toEqual([host, true]);
    for (const host of ['localhost', 'localhost:1']) expect([host, isPlatformHost(host)]).toEqual([host, false]);
  });

  it('are named without ports, each once', () =>
    expect(platformDomains(development)).toEqual([
      'management.localhost',
      'contexts.localhost',
      'localhost',
      'auth.localhost',
    ]));
});
