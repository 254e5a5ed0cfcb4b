import { Inject } from '@nestjs/common';
import { httpAnswer, retrieveIssuerMetadata, type ContextOf, type HttpAnswer } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, Operation, type RequestOf } from '@attestry/service-kit';
import type { ActiveConfiguration } from '../credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../formats/formats.js';
import { HaipProfile } from '../haip/haip-profile.js';
import { IssuerSigners, type CertifiedSigner } from '../issuer-certificates/issuer-signers.js';
import { MessageEncryption } from '../message-encryption/message-encryption.js';
import { PublishedConfigurations } from '../protocol/published-configurations.js';
import { rawOf } from '../protocol/raw-request.js';
import { MultilingualMetadata } from './display-languages.js';
import { IssuerBrands } from '../protocol/issuer-brands.js';
import { issuerMetadata, type MetadataIssuer } from './issuer-metadata.js';
import { prefersSigned, signMetadata } from './signed-metadata.js';

interface Made {
  brand: MetadataIssuer['brand'];
  profile: MetadataIssuer['profile'];
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
    private readonly issuerSigners: IssuerSigners,
    private readonly encryption: MessageEncryption,
    private readonly haip: HaipProfile,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveIssuerMetadata>,
    context: ContextOf<typeof retrieveIssuerMetadata>,
  ): Promise<HttpAnswer> {
    const { tenant, publicUrl } = context;
    const [configurations, brand, encryption, isHaip] = await Promise.all([
      this.published.listActive(tenant.id),
      this.brands.find(context),
      this.encryption.metadata(tenant.id),
      this.haip.isRequired(tenant.id),
    ]);
    const profile = isHaip ? 'haip' : 'default';
    const all = this.metadataOf({ issuer: publicUrl, baseUrl: tenant.baseUrl, brand, profile }, configurations);
    const { headers } = rawOf(request);
    const { metadata: described, contentLanguage } = all.select(headers['accept-language']);
    const metadata = { ...described, ...encryption };
    // Unsigned until the issuer has a signer (OID4VCI §12.2.2 allows both): an unauthenticated request makes none.
    const signer = prefersSigned(headers['accept'])
      ? await this.issuerSigners.findSigner(tenant.id, publicUrl)
      : undefined;
    return httpAnswer({
      headers: {
        vary: 'Accept-Language, Accept',
        ...(contentLanguage !== undefined && { 'content-language': contentLanguage }),
        ...(signer && { 'content-type': 'application/jwt' }),
      },
      body: signer ? await this.sign(metadata, publicUrl, signer) : metadata,
    });
  }

  /** With the key and the certificate that sign credentials of the issuer. */
  private sign(metadata: Record<string, unknown>, issuer: string, signer: CertifiedSigner): Promise<string> {
    return signMetadata(
      metadata,
      { issuer, time: this.clock.now() },
      { header: { alg: 'ES256', x5c: signer.certificate.x5c }, sign: (data) => signer.signAside(data) },
    );
  }

  private metadataOf(issuer: MetadataIssuer, configurations: readonly ActiveConfiguration[]): MultilingualMetadata {
    let byIssuer = this.made.get(configurations);
    if (!byIssuer) this.made.set(configurations, (byIssuer = new Map()));
    const known = byIssuer.get(issuer.issuer);
    const { brand, profile } = issuer;
    if (known?.profile === profile && known.brand.name === brand.name && known.brand.logoUrl === brand.logoUrl)
      return known.metadata;
    const metadata = new MultilingualMetadata(
      issuerMetadata(issuer, configurations, ({ format }) => this.formats.byName[format]),
    );
    byIssuer.set(issuer.issuer, { brand, profile, metadata });
    return metadata;
  }
}
