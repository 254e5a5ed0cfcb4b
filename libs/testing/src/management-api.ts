import type { ClientCredentials, Role } from '@attestry/contracts';
import { ApiClient, expectStatus, type Answer } from './api-client.js';
import { interfaceClient } from './interface-client.js';
import type { components, paths } from './interface/management.js';
import type { PlatformAddresses } from './cluster/start-platform.js';
import type { RunningPlatform } from './platform-process.js';
import { TenantApi } from './tenant-api.js';

type Schemas = components['schemas'];
type EventsQuery = paths['/v1/tenants/{tenantId}/events']['get']['parameters']['query'];
type PageQuery = paths['/v1/tenants']['get']['parameters']['query'];

/** The management API by resource, as one management client or one person. */
export class ManagementApi {
  readonly client: ApiClient;
  private readonly calls;

  constructor(baseUrl: string, token: string) {
    this.client = new ApiClient(baseUrl, token);
    this.calls = interfaceClient<paths>(this.client);
  }

  get environments() {
    const { client, answerTo } = this.calls;
    return { list: (query?: PageQuery) => answerTo(client.GET('/v1/environments', { params: { query } })) };
  }

  get tenants() {
    const { client, answerTo } = this.calls;
    const one = '/v1/tenants/{tenantId}';
    return {
      create: (body: Schemas['CreateTenantRequest']) => answerTo(client.POST('/v1/tenants', { body })),
      list: (query?: PageQuery) => answerTo(client.GET('/v1/tenants', { params: { query } })),
      retrieve: (tenantId: string) => answerTo(client.GET(one, { params: { path: { tenantId } } })),
      update: (tenantId: string, name: string) =>
        answerTo(client.PUT(one, { params: { path: { tenantId } }, body: { name } })),
      change: (tenantId: string, body: Schemas['UpdateTenantRequest']) =>
        answerTo(client.PUT(one, { params: { path: { tenantId } }, body })),
      events: (tenantId: string, query?: EventsQuery) =>
        answerTo(client.GET('/v1/tenants/{tenantId}/events', { params: { path: { tenantId }, query } })) as Promise<
          Answer<Schemas['PageOfAnalyticsEvent']>
        >,
      delete: (tenantId: string) => answerTo(client.DELETE(one, { params: { path: { tenantId } } })),
    };
  }

  get clients() {
    const { client, answerTo } = this.calls;
    const all = '/v1/tenants/{tenantId}/clients';
    const one = '/v1/tenants/{tenantId}/clients/{clientId}';
    return {
      create: (tenantId: string, body: Schemas['CreateClientRequest']) =>
        answerTo(client.POST(all, { params: { path: { tenantId } }, body })),
      list: (tenantId: string, query?: PageQuery) =>
        answerTo(client.GET(all, { params: { path: { tenantId }, query } })),
      retrieve: (tenantId: string, clientId: string) =>
        answerTo(client.GET(one, { params: { path: { tenantId, clientId } } })),
      update: (tenantId: string, clientId: string, body: Schemas['UpdateClientRequest']) =>
        answerTo(client.PUT(one, { params: { path: { tenantId, clientId } }, body })),
      rotateSecret: (tenantId: string, clientId: string, overlapSeconds?: number) =>
        answerTo(
          client.POST('/v1/tenants/{tenantId}/clients/{clientId}/secret', {
            params: { path: { tenantId, clientId } },
            body: { ...(overlapSeconds !== undefined && { overlapSeconds }) },
          }),
        ),
      delete: (tenantId: string, clientId: string) =>
        answerTo(client.DELETE(one, { params: { path: { tenantId, clientId } } })),
    };
  }

  get user() {
    const { client, answerTo } = this.calls;
    return {
      retrieve: () => answerTo(client.GET('/v1/userinfo')),
      update: (name: string) => answerTo(client.PUT('/v1/userinfo', { body: { name } })),
    };
  }

  get invitations() {
    const { client, answerTo } = this.calls;
    const one = '/v1/tenants/{tenantId}/invitations/{userId}';
    return {
      list: (tenantId: string, query?: PageQuery) =>
        answerTo(client.GET('/v1/tenants/{tenantId}/invitations', { params: { path: { tenantId }, query } })),
      resend: (tenantId: string, userId: string) =>
        answerTo(client.POST(`${one}/resend`, { params: { path: { tenantId, userId } } })),
      cancel: (tenantId: string, userId: string) =>
        answerTo(client.DELETE(one, { params: { path: { tenantId, userId } } })),
    };
  }

  get members() {
    const { client, answerTo } = this.calls;
    const all = '/v1/tenants/{tenantId}/members';
    const one = '/v1/tenants/{tenantId}/members/{userId}';
    const membership = '/v1/tenants/{tenantId}/memberships/{userId}';
    return {
      invite: (tenantId: string, body: Schemas['InviteMemberRequest']) =>
        answerTo(client.POST('/v1/tenants/{tenantId}/invitations', { params: { path: { tenantId } }, body })),
      accept: (token: string) => answerTo(client.POST('/v1/invitations/accept', { body: { token } })),
      list: (tenantId: string, query?: PageQuery) =>
        answerTo(client.GET(all, { params: { path: { tenantId }, query } })),
      retrieve: (tenantId: string, userId: string) =>
        answerTo(client.GET(one, { params: { path: { tenantId, userId } } })),
      update: (tenantId: string, userId: string, roles: Role[]) =>
        answerTo(client.PUT(membership, { params: { path: { tenantId, userId } }, body: { roles } })),
      delete: (tenantId: string, userId: string) =>
        answerTo(client.DELETE(membership, { params: { path: { tenantId, userId } } })),
    };
  }
}

/** Access token of a client, RFC 6749 §4.4 with a JSON body; `audience` names the tenant or the management API. */
export const requestToken = async (
  authUrl: string,
  credentials: { client_id: string; client_secret: string },
  audience?: string,
): Promise<Answer<Schemas['TokenResponse']>> => {
  const { client, answerTo } = interfaceClient<paths>(new ApiClient(authUrl));
  const body = { ...credentials, ...(audience !== undefined && { audience }), grant_type: 'client_credentials' };
  return answerTo(client.POST('/oauth/token', { body }));
};

/** The management API, by default as the first management client that the platform made for itself. */
export const connectManagement = async (
  platform: PlatformAddresses,
  credentials: { client_id: string; client_secret: string } = platform.managementClient(),
): Promise<ManagementApi> => {
  const answer = await requestToken(platform.ready.auth, credentials, platform.ready.management);
  return new ManagementApi(platform.ready.management, expectStatus(answer, 200).access_token);
};

/** A tenant with the token of its default client. */
export interface TenantUnderTest {
  id: string;
  /** Base address. */
  url: string;
  /** Host with port. */
  host: string;
  admin: ClientCredentials;
  token: string;
  api: TenantApi;
}

export const createTenantUnderTest = async (
  platform: PlatformAddresses,
  management: ManagementApi,
  subdomain: string,
): Promise<TenantUnderTest> => {
  const [environment] = expectStatus(await management.environments.list(), 200).data;
  const created = expectStatus(
    await management.tenants.create({ name: subdomain, subdomain, environmentId: environment!.id }),
    201,
  );
  const url = `${new URL(platform.ready.management).protocol}//${created.subdomain}`;
  const token = await clientToken(platform, url, created.client);
  const api = new TenantApi(url, token);
  return { id: created.id, url, host: created.subdomain, admin: created.client, token, api };
};

export const clientToken = async (
  platform: PlatformAddresses,
  tenantUrl: string,
  { clientId, clientSecret }: ClientCredentials,
): Promise<string> => {
  const credentials = { client_id: clientId, client_secret: clientSecret };
  return expectStatus(await requestToken(platform.ready.auth, credentials, tenantUrl), 200).access_token;
};

/** The tenant API as a new client with these roles. */
export const connectWithRoles = async (
  platform: PlatformAddresses,
  management: ManagementApi,
  tenant: TenantUnderTest,
  roles: Role[],
): Promise<TenantApi & { clientId: string }> => {
  const client = expectStatus(await management.clients.create(tenant.id, { name: roles.join(' '), roles }), 201);
  const api = new TenantApi(tenant.url, await clientToken(platform, tenant.url, client));
  return Object.assign(api, { clientId: client.clientId });
};

/** A further management client. */
export const registerManagementClient = async (platform: RunningPlatform, name: string): Promise<ManagementApi> =>
  connectManagement(platform, await platform.makeManagementClient(name));
