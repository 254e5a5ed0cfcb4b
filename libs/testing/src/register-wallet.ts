import { expectStatus } from './api-client.js';
import type { components } from './interface/tenant.js';
import type { TenantApi } from './tenant-api.js';

/** Registers a wallet of the authorization code flow, which then needs no consent. */
export const registerWallet = async (
  api: TenantApi,
  clientId: string,
  ...redirectUris: string[]
): Promise<components['schemas']['RegisteredWallet']> =>
  expectStatus(await api.wallets.create({ name: clientId, clientId, redirectUris }), 201);
