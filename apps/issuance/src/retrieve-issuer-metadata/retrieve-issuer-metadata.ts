import { retrieveIssuerMetadata, type ContextOf } from '@attestry/contracts';
import { Operation } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { issuerMetadata } from './issuer-metadata.js';

@Operation(retrieveIssuerMetadata)
export class RetrieveIssuerMetadata {
  /** Weak keys: an entry lives as long as the configurations it was made from. */
  private readonly made = new WeakMap<readonly ActiveConfiguration[], Map<string, Record<string, unknown>>>();

  constructor(
    private readonly published: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  async execute(
    _request: unknown,
    { tenant, publicUrl }: ContextOf<typeof retrieveIssuerMetadata>,
  ): Promise<Record<string, unknown>> {
    const { id, baseUrl } = tenant;
    const configurations = await this.published.listActive(id);
    let byIssuer = this.made.get(configurations);
    if (!byIssuer) this.made.set(configurations, (byIssuer = new Map()));
    let metadata = byIssuer.get(publicUrl);
    if (!metadata) {
      metadata = issuerMetadata(
        { issuer: publicUrl, baseUrl },
        configurations,
        ({ format }) => this.formats.byName[format],
      );
      byIssuer.set(publicUrl, metadata);
    }
    return metadata;
  }
}
