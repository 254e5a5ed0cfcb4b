import type { DirectoryEntry } from '../directory/directory.js';
import { Hosts } from './hosts.js';

const config = {
  publicScheme: 'https',
  managementDomain: 'management.example',
  contextUrl: 'https://contexts.example',
  environments: [{ authorizationServerDomain: 'auth.example', domain: 'tenants.example' }],
};
const context = {
  id: 't1',
  host: 'acme.tenants.example',
  baseUrl: 'https://acme.tenants.example',
};
const entry = { context, host: { api: 'tenant', publicUrl: context.baseUrl, tenant: context } } as DirectoryEntry;
const hostsOf = (tenant: unknown, ofDomain?: unknown) =>
  new Hosts(config as never, { tenantByHost: () => tenant, tenantByCustomDomain: () => ofDomain } as never);
const resolve = (hosts: Hosts, header: string | undefined) => hosts.resolve(header, Date.now() + 1000);

describe('a host', () => {
  it.each([
    ['management.example', { api: 'management', publicUrl: 'https://management.example' }],
    ['AUTH.example.:443', { api: 'auth', publicUrl: 'https://auth.example' }],
    ['contexts.example', { api: 'contexts', publicUrl: 'https://contexts.example' }],
    ['Tenants.example', { api: 'platform', publicUrl: 'https://tenants.example' }],
    ['acme.tenants.example', entry.host],
    ['acme.com', { api: 'custom-domain', publicUrl: 'https://acme.com', tenant: context }],
    ['127.0.0.1', undefined],
    [undefined, undefined],
  ])('in the cache is resolved synchronously: %s', (header, expected) => {
    expect(resolve(hostsOf(entry, context), header)).toEqual(expected);
  });

  it.each([
    ['acme.tenants.example', entry.host],
    ['acme.com', { api: 'custom-domain', publicUrl: 'https://acme.com', tenant: context }],
  ])('that is queried from management is awaited: %s', async (header, expected) => {
    const found = resolve(hostsOf(Promise.resolve(entry), Promise.resolve(context)), header);
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toEqual(expected);
    expect(await resolve(hostsOf(Promise.resolve(undefined), Promise.resolve(undefined)), header)).toBeUndefined();
  });
});
