import { expectStatus, TENANT_CLIENT } from '@attestry/testing';
import type { World } from './world.js';
import { pageRow, publicDocument, type Row } from './row.js';
import { brand, unique } from './things.js';

/** The tenant has no custom domain. */
const withoutDomain = async ({ tenant }: World) => {
  await tenant.api.customDomain.delete();
  return {};
};

/** The tenant has one that no other tenant has; `verified` in DNS or not. */
const freshDomain = async (world: World, inDns: boolean) => {
  await withoutDomain(world);
  const domain = `${unique('brand')}.example`;
  const created = expectStatus(await world.tenant.api.customDomain.create({ ...brand, domain }), 201);
  if (inDns) world.dns.set(domain, created.verificationToken);
  return created;
};

export const verifyDomain = async (world: World) => {
  await freshDomain(world, true);
  expectStatus(await world.tenant.api.customDomain.verify(), 204);
};

export const freshProvider = async ({ tenant, own, provider }: World) => {
  const { api } = tenant;
  for (const { id } of expectStatus(await api.authenticationProviders.list(), 200).data)
    expectStatus(await api.authenticationProviders.delete(id), 204);
  own.authenticationProvider = expectStatus(
    await api.authenticationProviders.create({
      url: provider.issuer,
      ...TENANT_CLIENT,
      forwardedRequestParameters: ['login_hint'],
    }),
    201,
  ).id;
  return own.authenticationProvider;
};

export const tenantSettingsRows: Record<string, Row> = {
  'tenant-config.create-custom-domain': {
    right: async (world) => {
      await withoutDomain(world);
      return { body: { ...brand, domain: `${unique('brand')}.example` } };
    },
    wrong: () => ({ body: { ...brand, domain: 'https://brand.example' } }),
    refusal: { status: 400, param: 'domain', location: 'body' },
  },
  'tenant-config.retrieve-custom-domain': {
    right: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    wrong: withoutDomain,
    refusal: { status: 404 },
  },
  'tenant-config.update-custom-domain': {
    right: async (world) => ({ body: { ...brand, domain: (await freshDomain(world, false)).domain } }),
    wrong: async (world) => ({ body: { ...brand, name: '', domain: (await freshDomain(world, false)).domain } }),
    refusal: { status: 400, param: 'name', location: 'body' },
  },
  'tenant-config.delete-custom-domain': {
    right: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    wrong: withoutDomain,
    refusal: { status: 404 },
  },
  'tenant-config.verify-custom-domain': {
    right: async (world) => {
      await freshDomain(world, true);
      return {};
    },
    wrong: async (world) => {
      await freshDomain(world, false);
      return {};
    },
    refusal: { status: 400, param: 'domain', location: 'body' },
  },
  'tenant-config.retrieve-manifest': {
    ...publicDocument,
    right: async (world) => {
      await verifyDomain(world);
      return {};
    },
  },
  'tenant-config.create-authentication-provider': {
    right: async (world) => {
      expectStatus(await world.tenant.api.authenticationProviders.delete(await freshProvider(world)), 204);
      return { body: { url: world.provider.issuer, clientId: 'c', clientSecret: 'a secret of the client' } };
    },
    wrong: ({ provider }) => ({ body: { url: provider.issuer, clientId: 'c', scope: ['email'] } }),
    refusal: { status: 400, param: 'scope', location: 'body' },
  },
  'tenant-config.list-authentication-providers': pageRow,
  'tenant-config.retrieve-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },
  'tenant-config.retrieve-client-keys': publicDocument,
  'tenant-config.update-authentication-provider': {
    right: async (world) => ({
      params: { id: await freshProvider(world) },
      body: { url: world.provider.issuer, clientId: 'other' },
    }),
    wrong: async (world) => ({
      params: { id: await freshProvider(world) },
      body: { url: `${world.provider.issuer}/nowhere`, clientId: 'c' },
    }),
    refusal: { status: 400, param: 'url', location: 'body' },
    foreign: ({ foreign, provider }) => ({
      params: { id: foreign.authenticationProvider },
      body: { url: provider.issuer, clientId: 'c' },
    }),
  },
  'tenant-config.check-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },
  'tenant-config.delete-authentication-provider': {
    right: async (world) => ({ params: { id: await freshProvider(world) } }),
    wrong: () => ({ params: { id: 'no-uuid' } }),
    refusal: { status: 400, param: 'id', location: 'params' },
    foreign: ({ foreign }) => ({ params: { id: foreign.authenticationProvider } }),
  },
};
