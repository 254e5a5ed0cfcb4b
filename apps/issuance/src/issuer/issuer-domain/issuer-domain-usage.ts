import { Injectable } from '@nestjs/common';
import { Streams } from '@attestry/event-store';
import { isUnder } from '../../settings/credential-configuration/configurations-under.js';
import { Formats } from '../../formats/formats.js';
import { openIdSettings, openIdSettingsStream } from '../../settings/openid-settings/openid-settings.state.js';
import { PublishedConfigurations } from '../../settings/credential-configuration/published-configurations.js';

/** How many credential configurations issue under a custom domain of a tenant: without it their credentials cannot be verified. */
@Injectable()
export class IssuerDomainUsage {
  constructor(
    private readonly streams: Streams,
    private readonly configurations: PublishedConfigurations,
    private readonly formats: Formats,
  ) {}

  /** Number of configurations whose DID is under it, or that a certificate of the issuer signs, where the issuer has its name. */
  async count(tenantId: string, domain: string): Promise<number> {
    const [configurations, { state }] = await Promise.all([
      this.configurations.listActive(tenantId),
      this.streams.load(openIdSettings, openIdSettingsStream(tenantId)),
    ]);
    const isIssuer = state.issuerDomain === domain;
    return configurations.filter(
      (it) => isUnder(it, domain) || (isIssuer && this.formats.byName[it.format].resources.signer.kind !== 'pinnedKey'),
    ).length;
  }
}
