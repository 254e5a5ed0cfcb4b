import { retrieveAuthorizationServerMetadata, type OperationContext } from '@attestry/contracts';
import { Operation, tenantOf } from '@attestry/service-kit';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import {
  authorizationServerMetadata,
  type AuthorizationServerMetadata,
} from '../protocol/authorization-server-metadata.js';

@Operation(retrieveAuthorizationServerMetadata)
export class RetrieveAuthorizationServerMetadata {
  constructor(private readonly published: PublishedConfigurations) {}

  async execute(_request: unknown, context: OperationContext): Promise<AuthorizationServerMetadata> {
    const { id, baseUrl } = tenantOf(context);
    return authorizationServerMetadata(baseUrl, await this.published.of(id));
  }
}
