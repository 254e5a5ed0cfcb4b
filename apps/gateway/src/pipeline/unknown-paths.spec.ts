import { OPERATIONS, type Api } from '@attestry/contracts';
import type { ResolvedHost } from '../request/hosts.js';
import { Router } from './router.js';
import { UnknownPaths } from './unknown-paths.js';

const environment = (domain: string, authorizationServerDomain: string) => ({ domain, authorizationServerDomain });
const unknown = new UnknownPaths(OPERATIONS, {
  publicScheme: 'https',
  managementDomain: 'management.one.example',
  environments: [
    environment('one.example', 'auth.one.example'),
    environment('eu.one.example', 'login.example'),
  ] as never,
});
const tenant = { id: 't1', host: 'acme.one.example', baseUrl: 'https://acme.one.example' };
const HOSTS = {
  tenant: { api: 'tenant', publicUrl: tenant.baseUrl, tenant },
  'custom-domain': { api: 'custom-domain', publicUrl: 'https://acme.example', tenant },
  management: { api: 'management', publicUrl: 'https://management.one.example' },
  auth: { api: 'auth', publicUrl: 'https://auth.one.example' },
  contexts: { api: 'contexts', publicUrl: 'https://contexts.one.example' },
} satisfies Record<Api, ResolvedHost>;
const messageOf = (path: string, host: ResolvedHost = HOSTS.tenant) => unknown.notFound(host, path).message;
const PATH = 'No operation has this path';
const GENERIC = `${PATH}; the paths are listed at https://acme.one.example/docs`;

describe('a path that no operation has [T649]', () => {
  it('is a 404 with the code of one', () => {
    expect(unknown.notFound(HOSTS.tenant, '/v1/user')).toMatchObject({ kind: 'notFound', code: 'NotFound' });
    expect(unknown.notFound(HOSTS.tenant, '/v1/user').details).toBeUndefined();
  });

  it.each([
    ['/v1/user', '/v1/users'],
    ['/v1/Users', '/v1/users'],
    ['/v1/credentials', '/v2/credentials'],
    ['/v1/users/', '/v1/users'],
    ['//v1//users', '/v1/users'],
    ['/v1/did', '/v1/dids'],
    ['/V1/dids', '/v1/dids'],
    ['/v2/users', '/v1/users'],
    ['/v9/users', '/v1/users'],
    ['/v2/user/3f0f2c59-6a27-4e80-b2a0-9b6f5f0c7d11', '/v1/users/{id}'],
    ['/v1/credentials/sd-jwt/configurations', '/v2/credentials/sd-jwt/configurations'],
    ['/users', '/v1/users'],
    ['/api/v1/users', '/v1/users'],
    ['/v1/users/7/credential', '/v1/users/{userId}/credentials'],
    ['/v1/openid/offer/pre-authorised', '/v1/openid/offers/pre-authorized'],
    ['/v1/offers', '/v1/openid/offers'],
    ['/.well-known/openid-credential-isuer', '/.well-known/openid-credential-issuer'],
    ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'],
    ['/oauth/authorize', '/v1/oauth/authorize'],
  ])('%s: the nearest one is %s', (path, nearest) => {
    expect(messageOf(path)).toBe(`${PATH}; did you mean ${nearest}?`);
  });

  it.each([
    '/token',
    '/oauth/token',
    '/v1/token',
    '/v2/oauth/token/',
    '/oauth2/v1/tokens',
    '/realms/x/openid-connect/token',
  ])('%s: the token endpoints are named', (path) => {
    const ofClients = `${PATH}; access tokens of clients are issued by POST https://auth.one.example/oauth/token`;
    const both = `${ofClients}, those of wallets by POST https://acme.one.example/v1/oauth/token`;
    expect(messageOf(path)).toBe(both);
    expect(messageOf(path, HOSTS['custom-domain'])).toBe(both);
    for (const host of [HOSTS.management, HOSTS.auth, HOSTS.contexts]) expect(messageOf(path, host)).toBe(ofClients);
  });

  it('of another environment names its authorization server', () => {
    const of = (baseUrl: string) => messageOf('/token', { ...HOSTS.tenant, tenant: { ...tenant, baseUrl } });
    expect(of('https://acme.eu.one.example')).toContain('POST https://login.example/oauth/token');
    expect(messageOf('/token', { api: 'auth', publicUrl: 'https://login.example' })).toContain(
      'https://login.example/',
    );
  });

  it.each<[string, Api, string]>([
    ['/v1/tenants', 'tenant', '/v1/tenants is served at https://management.one.example'],
    ['/v1/tenants/7/clients', 'tenant', '/v1/tenants/{tenantId}/clients is served at https://management.one.example'],
    ['/v1/dids/x', 'management', '/v1/dids/{id} is served at https://<subdomain>.one.example'],
    ['/v1/dids', 'auth', '/v1/dids is served at https://<subdomain>.one.example'],
    ['/v1/dids', 'contexts', '/v1/dids is served at https://<subdomain>.one.example'],
    ['/v1/dids', 'custom-domain', '/v1/dids is served at https://acme.one.example'],
    ['/oauth/revoke', 'tenant', '/oauth/revoke is served at https://auth.one.example'],
  ])('%s on the host %s: %s', (path, api, advice) => {
    expect(messageOf(path, HOSTS[api])).toBe(`${PATH} at this host; ${advice}`);
  });

  it.each(['/', '/v9/nothing', '/v1', '/x', '/wp-login.php', '/constructor', '/v1/__proto__/toString'])(
    '%s: the list of paths is named',
    (path) => expect(messageOf(path)).toBe(GENERIC),
  );

  it('is named only as it is declared, so that every path that is named has an operation', () => {
    const routers = {
      tenant: new Router('tenant', OPERATIONS, 1),
      management: new Router('management', OPERATIONS, 1),
    };
    for (const { http } of OPERATIONS.filter((it) => it.http?.path.startsWith('/')))
      for (const api of ['tenant', 'management'] as const)
        for (const path of [`${http!.path}x`, http!.path.slice(0, -1), `/v7${http!.path.slice(3)}`]) {
          const [, named] = /did you mean (\S+)\?$/.exec(messageOf(path, HOSTS[api])) ?? [];
          if (named !== undefined)
            expect([named, routers[api].allowed(named.replace(/[{}]/g, ''))]).not.toEqual([named, []]);
        }
  });
});

describe('a hostile path [T650]', () => {
  const HOSTILE = [
    `/v1/${'u'.repeat(8192)}`,
    '/v1/user'.repeat(1000),
    '/'.repeat(8192),
    `/v1${'/a'.repeat(4000)}`,
    '/v1/%3Cscript%3E%0d%0aset-cookie:a',
    '/v1/<script>alert(1)</script>',
    '/v1/\r\nx: y\u0000\u001b[31m',
    '/v1/user%00',
    '/v1/"}{"code":"x',
    '/v1/did:web:secret.example',
    `/token${'/'.repeat(295)}`,
    '/v1/users/secret-of-a-person/unknown',
  ];

  it.each(HOSTILE)('is not repeated, whatever it has: %j', (path) => {
    for (const host of Object.values(HOSTS)) {
      const message = messageOf(path, host);
      expect(message.length).toBeLessThan(260);
      expect(message).toMatch(/^[\x20-\x7e]+$/);
      expect(message).not.toMatch(/script|cookie|secret|\\|"/);
    }
  });

  it('is compared with few names, however long it is', () => {
    // Longest accepted segments whose lengths fit most names, in as many segments as are compared.
    const costly = [
      `/${Array(10).fill('abcdefghijklmnopqrstuvwxyz'.slice(0, 28)).join('/')}`,
      '/v1/openid/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/x',
    ];
    for (const path of [...HOSTILE, ...costly]) {
      const start = process.cpuUsage();
      for (let n = 0; n < 1000; n++) messageOf(path);
      const { user, system } = process.cpuUsage(start);
      // Time of a thousand; a comparison of the whole path would take seconds.
      expect((user + system) / 1000).toBeLessThan(1000);
    }
  });
});
