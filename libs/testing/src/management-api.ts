import {
  acceptInvitation,
  createClient,
  createTenant,
  deleteClient,
  deleteMembership,
  deleteTenant,
  inviteMember,
  listClients,
  listEnvironments,
  listMembers,
  listTenants,
  retrieveMember,
  retrieveTenant,
  retrieveUserInformation,
  updateMembership,
  updateUserInformation,
  type Client,
  type ClientCredentials,
  type CreateClientRequest,
  type CreatedClient,
  type CreatedTenant,
  type CreateTenantRequest,
  type Environment,
  type InvitationResult,
  type InviteMemberRequest,
  type Member,
  type MembershipUpdate,
  type PageOf,
  type Role,
  type Tenant,
  type TokenResponse,
  type UserInformation,
} from '@attestry/contracts';
import { ApiClient, expectStatus, type Answer, type RequestParts } from './api-client.js';
import type { RunningPlatform } from './platform-process.js';
import { TenantApi } from './tenant-api.js';

type Query = RequestParts['query'];

/** The management API by resource, as one management client or one person. */
export class ManagementApi {
  readonly client: ApiClient;

  constructor(baseUrl: string, token: string) {
    this.client = new ApiClient(baseUrl, token);
  }

  readonly environments = {
    list: (query?: Query): Promise<Answer<PageOf<Environment>>> => this.client.call(listEnvironments, { query }),
  };

  readonly tenants = {
    create: (body: CreateTenantRequest): Promise<Answer<CreatedTenant>> => this.client.call(createTenant, { body }),
    list: (query?: Query): Promise<Answer<PageOf<Tenant>>> => this.client.call(listTenants, { query }),
    retrieve: (tenantId: string): Promise<Answer<Tenant>> => this.client.call(retrieveTenant, { params: { tenantId } }),
    delete: (tenantId: string): Promise<Answer<undefined>> => this.client.call(deleteTenant, { params: { tenantId } }),
  };

  readonly clients = {
    create: (tenantId: string, body: CreateClientRequest): Promise<Answer<CreatedClient>> =>
      this.client.call(createClient, { params: { tenantId }, body }),
    list: (tenantId: string, query?: Query): Promise<Answer<PageOf<Client>>> =>
      this.client.call(listClients, { params: { tenantId }, query }),
    delete: (tenantId: string, clientId: string): Promise<Answer<undefined>> =>
      this.client.call(deleteClient, { params: { tenantId, clientId } }),
  };

  readonly user = {
    retrieve: (): Promise<Answer<UserInformation>> => this.client.call(retrieveUserInformation, {}),
    update: (name: string): Promise<Answer<UserInformation>> =>
      this.client.call(updateUserInformation, { body: { name } }),
  };

  readonly members = {
    invite: (tenantId: string, body: InviteMemberRequest): Promise<Answer<InvitationResult>> =>
      this.client.call(inviteMember, { params: { tenantId }, body }),
    accept: (token: string): Promise<Answer<MembershipUpdate>> =>
      this.client.call(acceptInvitation, { body: { token } }),
    list: (tenantId: string, query?: Query): Promise<Answer<PageOf<Member>>> =>
      this.client.call(listMembers, { params: { tenantId }, query }),
    retrieve: (tenantId: string, userId: string): Promise<Answer<Member>> =>
      this.client.call(retrieveMember, { params: { tenantId, userId } }),
    update: (tenantId: string, userId: string, roles: Role[]): Promise<Answer<MembershipUpdate>> =>
      this.client.call(updateMembership, { params: { tenantId, userId }, body: { roles } }),
    delete: (tenantId: string, userId: string): Promise<Answer<undefined>> =>
      this.client.call(deleteMembership, { params: { tenantId, userId } }),
  };
}

/** Access token of a client, RFC 6749 §4.4 with a JSON body; `audience` names the tenant or the management API. */
export const requestToken = async (
  authUrl: string,
  credentials: { client_id: string; client_secret: string },
  audience?: string,
): Promise<Answer<TokenResponse>> =>
  new ApiClient(authUrl).request('POST', '/oauth/token', {
    body: { ...credentials, ...(audience !== undefined && { audience }), grant_type: 'client_credentials' },
  });

/** The management API, by default as the first management client that the platform made for itself. */
export const connectManagement = async (
  platform: RunningPlatform,
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
  platform: RunningPlatform,
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
  platform: RunningPlatform,
  tenantUrl: string,
  { clientId, clientSecret }: ClientCredentials,
): Promise<string> => {
  const credentials = { client_id: clientId, client_secret: clientSecret };
  return expectStatus(await requestToken(platform.ready.auth, credentials, tenantUrl), 200).access_token;
};

/** The tenant API as a new client with these roles. */
export const connectWithRoles = async (
  platform: RunningPlatform,
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
