import { retrieveAuthorizationServerMetadata, type PublicContext } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import {
  authorizationServerMetadata,
  type AuthorizationServerMetadata,
} from '../protocol/authorization-server-metadata.js';

@Operation(retrieveAuthorizationServerMetadata)
export class RetrieveAuthorizationServerMetadata {
  constructor(private readonly published: PublishedConfigurations) {}

  async execute(_request: unknown, { tenant }: PublicContext): Promise<AuthorizationServerMetadata> {
    const { id, baseUrl } = tenant;
    return authorizationServerMetadata(baseUrl, await this.published.listActive(id));
  }
}
