import { Inject, Injectable } from '@nestjs/common';
import { invalidBody, type ClientContext, type IssuerName } from '@attestry/contracts';
import { Streams, type EventContext } from '@attestry/event-store';
import { eventContext, LOGGER, requestFields, type Logger } from '@attestry/service-kit';
import { Formats } from '../../formats/formats.js';
import { statusSeriesOf } from '../../formats/status-series.js';
import { IssuerSigners } from '../../certificates/issuer-certificates/issuer-signers.js';
import { resetIssuerName } from '../../settings/openid-settings/openid-settings.decisions.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';
import { seriesName, type ListSeries } from '../../status-lists/status-list/list-series.js';
import { StatusIndexes } from '../../status-lists/status-list/status-indexes.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';
import { IssuerNames } from '../issuer-names/issuer-names.js';
import { PublishedIssuer } from '../issuer-names/published-issuer.js';

/** The custom domain as the name of a tenant's issuer (ADR 0102). */
@Injectable()
export class IssuerDomain {
  constructor(
    private readonly streams: Streams,
    private readonly names: IssuerNames,
    private readonly signers: IssuerSigners,
    private readonly published: PublishedIssuer,
    private readonly configurations: PublishedConfigurations,
    private readonly formats: Formats,
    private readonly statusIndexes: StatusIndexes,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * The domain of a requested name.
   * @returns as the setting: null for the host, undefined for no change
   * @throws AppError 400
   */
  async ofName(name: IssuerName | null | undefined, context: ClientContext): Promise<string | null | undefined> {
    if (name === undefined) return undefined;
    if (name !== 'domain') return null;
    const { tenant } = context;
    const domain = await this.verified(tenant.id);
    if (domain === undefined) throw notVerified();
    const issuer = this.names.identifierOf(domain);
    // Made when the domain is verified, by a consumer that may be behind.
    await this.signers.ensure(tenant.id, issuer, eventContext(context));
    await this.published.check(tenant, issuer);
    return domain;
  }

  /** Once the setting is stored. @throws AppError 400 when the domain was withdrawn meanwhile */
  async begin(domain: string, context: ClientContext): Promise<void> {
    const { tenant } = context;
    if ((await this.verified(tenant.id)) !== domain) {
      await this.end(tenant.id, domain, eventContext(context));
      throw notVerified();
    }
    // Ahead of the first credentials, which open them where this fails.
    try {
      const all = (await this.configurations.listActive(tenant.id)).flatMap((it): ListSeries[] => {
        const { resources } = this.formats.byName[it.format];
        if (resources.signer.kind !== 'issuerSigner') return [];
        const series = statusSeriesOf(resources, it, this.names.identifierOf(domain));
        return series ? [series] : [];
      });
      for (const series of new Map(all.map((it) => [seriesName(it), it])).values())
        await this.statusIndexes.openSeries(tenant, series);
    } catch (error) {
      this.logger.warn({ ...requestFields(context), error: String(error) }, 'status lists not opened ahead');
    }
  }

  /** The name of the issuer is its host again, when the domain in it is withdrawn. */
  async end(tenantId: string, domain: string, context: EventContext): Promise<void> {
    await this.streams.runDecision(
      openIdSettings,
      openIdSettingsStream(tenantId),
      async (settings) =>
        // A late event of a domain that was verified again.
        settings.issuerDomain === undefined || (await this.verified(tenantId)) === domain
          ? []
          : resetIssuerName(settings, { withdrawn: domain }),
      context,
    );
  }

  private async verified(tenantId: string): Promise<string | undefined> {
    return (await this.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId))).state.verified;
  }
}

const notVerified = () =>
  invalidBody(
    'issuerName',
    'must not be domain: the tenant has no verified custom domain; one is known a few seconds after its verification',
    'domain',
  );
