import type { Operation } from '@attestry/contracts';
import { ApiClient, expectStatus } from '@attestry/testing';
import { ROWS } from './rows.js';
import type { World } from './world.js';

/** The host an operation is called on. */
export const clientOf = ({ platform, tenant, management }: World, operation: Operation, token?: string): ApiClient => {
  switch (operation.http!.hosts?.[0] ?? 'tenant') {
    case 'management':
      return new ApiClient(management.client.baseUrl, token);
    case 'auth':
      return new ApiClient(platform.ready.auth, token);
    case 'contexts':
      return new ApiClient(platform.tenantUrl('contexts'), token);
    case 'tenant':
    case 'custom-domain':
      return new ApiClient(tenant.url, token);
  }
};

/** State that a refused command must not change. */
export const snapshot = async ({ management, tenant }: World): Promise<string> => {
  const { api } = tenant;
  const query = { limit: 1000 };
  const lists = await Promise.all([
    api.dids.list(query),
    api.jwtVc.list(query),
    api.webSemantic.list(query),
    api.users.list(query),
    api.webhooks.list(query),
    api.wallets.list(query),
    api.claimSources.list(query),
    api.openIdConfiguration.retrieve(),
    management.tenants.list(query),
    management.clients.list(tenant.id, query),
    management.members.list(tenant.id, query),
  ]);
  return JSON.stringify(lists.map((list) => expectStatus(list as { status: number; body: unknown } as never, 200)));
};

export const rightToken = ({ management, person, tenant }: World, { name, access }: Operation): string | undefined =>
  access.kind === 'management'
    ? (ROWS[name]?.as === 'person' ? person : management).client.token
    : access.kind === 'roles'
      ? tenant.token
      : undefined;
