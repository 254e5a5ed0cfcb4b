import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveAuthorizationServerMetadata } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { authorizationServerMetadata, type AuthorizationServerMetadata } from './authorization-server-metadata.js';

export class RetrieveAuthorizationServerMetadata {
  constructor(
    readonly request: RequestOf<typeof retrieveAuthorizationServerMetadata>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveAuthorizationServerMetadata)
export class RetrieveAuthorizationServerMetadataHandler implements IQueryHandler<RetrieveAuthorizationServerMetadata> {
  constructor(private readonly published: PublishedConfigurations) {}

  async execute({ context }: RetrieveAuthorizationServerMetadata): Promise<AuthorizationServerMetadata> {
    const { id, baseUrl } = tenantOf(context);
    return authorizationServerMetadata(baseUrl, await this.published.of(id));
  }
}
