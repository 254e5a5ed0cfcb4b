import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { OperationContext, retrieveIssuerMetadata } from '@attestry/contracts';
import { tenantOf, type RequestOf } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../issue-credential/formats/formats.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { issuerMetadata } from './issuer-metadata.js';

export class RetrieveIssuerMetadata {
  constructor(
    readonly request: RequestOf<typeof retrieveIssuerMetadata>,
    readonly context: OperationContext,
  ) {}
}

@QueryHandler(RetrieveIssuerMetadata)
export class RetrieveIssuerMetadataHandler implements IQueryHandler<RetrieveIssuerMetadata> {
  /** By what it was made from and for which host, as long as somebody else keeps that. */
  private readonly made = new WeakMap<readonly ActiveConfiguration[], Map<string, Record<string, unknown>>>();

  constructor(
    private readonly published: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  async execute({ context }: RetrieveIssuerMetadata): Promise<Record<string, unknown>> {
    const { id, baseUrl } = tenantOf(context);
    const { publicUrl } = context;
    const configurations = await this.published.of(id);
    let byIssuer = this.made.get(configurations);
    if (!byIssuer) this.made.set(configurations, (byIssuer = new Map()));
    let metadata = byIssuer.get(publicUrl);
    if (!metadata) {
      metadata = issuerMetadata({ issuer: publicUrl, baseUrl }, configurations, ({ format }) =>
        this.formats.of(format),
      );
      byIssuer.set(publicUrl, metadata);
    }
    return metadata;
  }
}
