import { Inject } from '@nestjs/common';
import { httpAnswer, retrieveIssuerMetadata, type ContextOf, type HttpAnswer } from '@attestry/contracts';
import type { Clock } from '@attestry/event-store';
import { CLOCK, frozenData, Operation, type RequestOf } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import type { ActiveConfiguration } from '../../settings/credential-configuration/credential-configuration.decisions.js';
import { Formats } from '../../formats/formats.js';
import { IssuerSigners, type CertifiedSigner } from '../../certificates/issuer-certificates/issuer-signers.js';
import { MessageEncryption } from '../../credential/message-encryption/message-encryption.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { rawOf } from '../../reading/raw-request/raw-request.js';
import { MultilingualMetadata } from './display-languages.js';
import { IssuerBrands } from '../../issuer/issuer-brands/issuer-brands.js';
import { TenantWallets } from '../../wallets/registered-wallets/tenant-wallets.js';
import { issuerMetadata, type MetadataIssuer } from './issuer-metadata.js';
import { prefersSigned, signMetadata } from './signed-metadata.js';

type Metadata = Record<string, unknown>;

/** How long signed metadata are returned again, milliseconds. */
const SIGNED_MS = 60_000;
/** Characters of all signed metadata that are kept. */
const MAX_SIGNED = 32 * 1_048_576;

interface Signed {
  /** Fingerprint of the signer's certificate. */
  fingerprint: string;
  /** Milliseconds since the epoch. */
  at: number;
  jwt: Promise<string>;
  length: number;
}

interface Made {
  /** Members of the issuer that are in the metadata, as JSON. */
  facts: string;
  metadata: MultilingualMetadata;
}

@Operation(retrieveIssuerMetadata)
export class RetrieveIssuerMetadata {
  /** By issuer. Weak keys: an entry lives as long as the configurations it was made from. */
  private readonly made = new WeakMap<readonly ActiveConfiguration[], Map<string, Made>>();

  /** With the encryption keys of the issuer, as JSON: the same object as long as nothing changes, so that it is made text once. */
  private readonly complete = new WeakMap<Metadata, { encryption: string; metadata: Metadata }>();
  private readonly signed = new LRUCache<Metadata, Signed>({
    maxSize: MAX_SIGNED,
    sizeCalculation: ({ length }) => length,
  });

  constructor(
    private readonly published: PublishedConfigurations,
    private readonly brands: IssuerBrands,
    private readonly formats: Formats,
    private readonly issuerSigners: IssuerSigners,
    private readonly encryption: MessageEncryption,
    private readonly wallets: TenantWallets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute(
    request: RequestOf<typeof retrieveIssuerMetadata>,
    context: ContextOf<typeof retrieveIssuerMetadata>,
  ): Promise<HttpAnswer> {
    const { tenant, publicUrl } = context;
    const [configurations, brand, encryption, settings] = await Promise.all([
      this.published.listActive(tenant.id),
      this.brands.find(context),
      this.encryption.metadata(tenant.id),
      this.wallets.readSettings(tenant.id),
    ]);
    const { baseUrl, name: tenantName } = tenant;
    const all = this.metadataOf({ issuer: publicUrl, baseUrl, brand, tenantName, settings }, configurations);
    const { headers } = rawOf(request);
    const { metadata: described, contentLanguage } = all.select(headers['accept-language']);
    const metadata = this.completeWith(described, encryption);
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

  private completeWith(described: Metadata, encryption: Metadata): Metadata {
    const text = JSON.stringify(encryption);
    const known = this.complete.get(described);
    if (known?.encryption === text) return known.metadata;
    const metadata = frozenData({ ...described, ...encryption });
    this.complete.set(described, { encryption: text, metadata });
    return metadata;
  }

  /** With the key and the certificate that sign credentials of the issuer; once a minute. */
  private sign(metadata: Metadata, issuer: string, signer: CertifiedSigner): Promise<string> {
    const time = this.clock.now();
    const { fingerprint, x5c } = signer.certificate;
    const known = this.signed.get(metadata);
    if (known?.fingerprint === fingerprint && Math.abs(time.getTime() - known.at) < SIGNED_MS) return known.jwt;
    const jwt = signMetadata(
      metadata,
      { issuer, time },
      { header: { alg: 'ES256', x5c }, sign: (data) => signer.signAside(data) },
    );
    const made: Signed = { fingerprint, at: time.getTime(), jwt, length: 1 };
    this.signed.set(metadata, made);
    jwt.then(
      ({ length }) => {
        if (this.signed.peek(metadata) === made) this.signed.set(metadata, { ...made, length });
      },
      () => {
        if (this.signed.peek(metadata) === made) this.signed.delete(metadata);
      },
    );
    return jwt;
  }

  private metadataOf(issuer: MetadataIssuer, configurations: readonly ActiveConfiguration[]): MultilingualMetadata {
    let byIssuer = this.made.get(configurations);
    if (!byIssuer) this.made.set(configurations, (byIssuer = new Map()));
    const known = byIssuer.get(issuer.issuer);
    const { brand, tenantName, settings } = issuer;
    const { profile, displayName, advertiseScopes } = settings;
    const facts = JSON.stringify([profile, displayName, advertiseScopes, tenantName, brand.name, brand.logoUrl]);
    if (known?.facts === facts) return known.metadata;
    const metadata = new MultilingualMetadata(
      issuerMetadata(issuer, configurations, ({ format }) => this.formats.byName[format]),
    );
    byIssuer.set(issuer.issuer, { facts, metadata });
    return metadata;
  }
}
