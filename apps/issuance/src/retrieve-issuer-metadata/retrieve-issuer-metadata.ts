import { httpAnswer, retrieveIssuerMetadata, type ContextOf, type HttpAnswer } from '@attestry/contracts';
import { Operation, type RequestOf } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { rawOf } from '../protocol/raw-request.js';
import { MultilingualMetadata } from './display-languages.js';
import { IssuerBrands } from './issuer-brands.js';
import { issuerMetadata, type MetadataIssuer } from './issuer-metadata.js';

interface Made {
  brand: MetadataIssuer['brand'];
  metadata: MultilingualMetadata;
}

@Operation(retrieveIssuerMetadata)
export class RetrieveIssuerMetadata {
  /** By issuer. Weak keys: an entry lives as long as the configurations it was made from. */
  private readonly made = new WeakMap<readonly ActiveConfiguration[], Map<string, Made>>();

  constructor(
    private readonly published: PublishedConfigurations,
    private readonly brands: IssuerBrands,
    private readonly formats: Formats,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveIssuerMetadata>,
    context: ContextOf<typeof retrieveIssuerMetadata>,
  ): Promise<HttpAnswer> {
    const { tenant, publicUrl } = context;
    const [configurations, brand] = await Promise.all([
      this.published.listActive(tenant.id),
      this.brands.find(context),
    ]);
    const all = this.metadataOf({ issuer: publicUrl, baseUrl: tenant.baseUrl, brand }, configurations);
    const { metadata, contentLanguage } = all.select(rawOf(request).headers['accept-language']);
    return httpAnswer({
      headers: {
        vary: 'Accept-Language',
        ...(contentLanguage !== undefined && { 'content-language': contentLanguage }),
      },
      body: metadata,
    });
  }

  private metadataOf(issuer: MetadataIssuer, configurations: readonly ActiveConfiguration[]): MultilingualMetadata {
    let byIssuer = this.made.get(configurations);
    if (!byIssuer) this.made.set(configurations, (byIssuer = new Map()));
    const known = byIssuer.get(issuer.issuer);
    if (known && known.brand.name === issuer.brand.name && known.brand.logoUrl === issuer.brand.logoUrl)
      return known.metadata;
    const metadata = new MultilingualMetadata(
      issuerMetadata(issuer, configurations, ({ format }) => this.formats.byName[format]),
    );
    byIssuer.set(issuer.issuer, { brand: issuer.brand, metadata });
    return metadata;
  }
}
