import { retrieveAuthorizationServerMetadata, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import {
  authorizationServerMetadata,
  type AuthorizationServerMetadata,
} from '../authorization-server-metadata/authorization-server-metadata.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';

@Operation(retrieveAuthorizationServerMetadata)
export class RetrieveAuthorizationServerMetadata {
  constructor(
    private readonly published: PublishedConfigurations,
    private readonly wallets: TenantWallets,
  ) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<AuthorizationServerMetadata> {
    const { id, baseUrl } = tenant;
    const [configurations, settings] = await Promise.all([
      this.published.listActive(id),
      this.wallets.readSettings(id),
    ]);
    return authorizationServerMetadata(baseUrl, configurations, settings);
  }
}
