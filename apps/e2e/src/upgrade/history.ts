import type { ClientCredentials } from '@attestry/contracts';
import {
  ApiClient,
  clientToken,
  createTenantUnderTest,
  expectStatus,
  registerWallet,
  TenantApi,
  waitUntil,
  type ManagementApi,
  type RunningPlatform,
  type TenantUnderTest,
  type WebhookReceiver,
} from '@attestry/testing';
import { issue } from '../journey.js';
import { EachFormat, FORMATS, type Configurations } from '../each-format.js';

/** Settings of a recorded platform, without which its data cannot be read. */
export type Secrets = Record<'MASTER_KEY' | 'MANAGEMENT_CLIENT_ID' | 'MANAGEMENT_CLIENT_SECRET', string>;

/** A tenant of a recorded platform, and what the platform answered about it. */
export interface RecordedTenant {
  name: string;
  id: string;
  client: ClientCredentials;
  /** Type of the configurations, and their ids by format. */
  type: string;
  configurations: [format: string, id: string][];
  /** User with the claims {@link KEPT}. */
  kept: string;
  /** Deleted user. */
  gone: string;
  /** User who collected a credential in each format. */
  holder: string;
  /** Entries by path. */
  lists: Record<string, unknown[]>;
  events: Timed[];
  managementEvents: Timed[];
}
type Timed = Record<string, unknown> & { timestamp: string };

export interface Recorded {
  /** Part of the hosts of the tenants, which are in stored data. */
  port: number;
  secrets: Secrets;
  /** Entries by path. */
  lists: Record<string, unknown[]>;
  tenants: RecordedTenant[];
}

export const KEPT = { given_name: 'Ada', family_name: 'Lovelace' };
export const MAPPINGS = { given_name: { mapFrom: 'claims.given_name' } };

/** All entries of a list. */
export const allEntries = async <Entry = unknown>(
  client: ApiClient,
  path: string,
  query: object = {},
): Promise<Entry[]> => {
  const found: Entry[] = [];
  for (let cursor: string | undefined; ;) {
    const parts = { query: { limit: 20, ...query, ...(cursor !== undefined && { cursor }) } };
    const page = expectStatus(await client.request<{ data: Entry[]; nextCursor?: string }>('GET', path, parts), 200);
    found.push(...page.data);
    if (page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
};

/** Lists whose entries neither time nor a job of the platform changes. */
const pathsOf = (holder: string, webhookIds: readonly string[]): string[] => [
  '/v1/dids',
  ...Object.values(FORMATS).map(({ profile }) => `/v2/credentials/${profile}/configurations`),
  '/v2/credentials/mobile/iacas',
  '/v2/credentials',
  `/v1/users/${holder}/credentials`,
  '/v1/openid/wallets',
  '/v1/webhooks',
  ...webhookIds.map((id) => `/v1/webhooks/${id}/attempts`),
];

export const listsOf = async (client: ApiClient, paths: readonly string[]): Promise<Record<string, unknown[]>> =>
  Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await allEntries(client, path)])));

/** Makes a tenant with a history: DID, configurations and credentials in each format, a revoked one, users, a wallet, webhooks. */
export const makeTenant = async (
  platform: RunningPlatform,
  management: ManagementApi,
  name: string,
  receiver: WebhookReceiver,
): Promise<Omit<RecordedTenant, 'events' | 'managementEvents' | 'lists'> & { webhookIds: string[] }> => {
  const tenant = await createTenantUnderTest(platform, management, name);
  const { api } = tenant;
  const formats = await EachFormat.prepare(tenant);
  const { type, ids } = await formats.configure('Diploma', MAPPINGS);
  await registerWallet(api, 'wallet', 'https://wallet.example/callback');
  const webhookIds: string[] = [];
  for (const url of [receiver.url, 'http://127.0.0.1:9/nobody']) {
    const { id } = expectStatus(await api.webhooks.create({ url, events: ['OpenIdCredentialIssued'] }), 201);
    webhookIds.push(id);
  }
  const createUser = async () => expectStatus(await api.users.create({ claims: KEPT }), 201).id;
  const [kept, gone, holder] = [await createUser(), await createUser(), await createUser()];
  await formats.issue({ type, ids }, { given_name: 'Ada' }, { userId: holder });
  expectStatus(await api.users.delete(gone), 204);
  const revocable = { type: 'Revocable', name: 'Revocable', issuer: { name: 'University' }, claimMappings: MAPPINGS };
  const { id } = expectStatus(await api.sdJwt.create({ ...revocable, revocable: true, expiresIn: { months: 6 } }), 201);
  await issue(tenant, { credentials: [id], claims: { given_name: 'Ada' }, userId: holder });
  const [revoked] = await waitUntil(
    async () => {
      const issued = await allEntries<{ id: string }>(api.client, '/v2/credentials', { credentialConfigurationId: id });
      return issued.length > 0 && issued;
    },
    { what: 'the issued credential in the list' },
  );
  expectStatus(await api.sdJwt.setStatus(revoked!.id, { status: 'invalid' }), 201);
  const attempts = () => Promise.all(webhookIds.map((id) => allEntries(api.client, `/v1/webhooks/${id}/attempts`)));
  // The second target is tried twice.
  const areMade = async () => (await attempts()).every(({ length }, at) => length === (ids.size + 1) * (at + 1));
  await waitUntil(areMade, { what: 'deliveries' });
  return { name, id: tenant.id, client: tenant.admin, type, configurations: [...ids], kept, gone, holder, webhookIds };
};

/** The lists of a tenant, and its events, newest first. */
export const answersOf = async (
  { api, id }: TenantUnderTest,
  management: ManagementApi,
  { holder, webhookIds }: { holder: string; webhookIds: readonly string[] },
): Promise<Pick<RecordedTenant, 'events' | 'managementEvents' | 'lists'>> => ({
  lists: await listsOf(api.client, pathsOf(holder, webhookIds)),
  events: await allEntries<Timed>(api.client, '/v1/events'),
  managementEvents: await allEntries<Timed>(management.client, `/v1/tenants/${id}/events`),
});

/** A recorded tenant on a platform that has its data. */
export const tenantOn = async (
  platform: RunningPlatform,
  { name, id, client }: Pick<RecordedTenant, 'name' | 'id' | 'client'>,
): Promise<TenantUnderTest> => {
  const url = platform.tenantUrl(name);
  const token = await clientToken(platform, url, client);
  return { id, url, host: new URL(url).host, admin: client, token, api: new TenantApi(url, token) };
};

export const configurationsOf = ({ type, configurations }: RecordedTenant): Configurations => ({
  type,
  ids: new Map(configurations),
});
