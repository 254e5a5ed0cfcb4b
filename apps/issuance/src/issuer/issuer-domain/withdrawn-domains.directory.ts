import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { customDomainWithdrawn, type CustomDomainChanged } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import type { FeedMessage } from '@attestry/messaging';
import { CLOCK, PlatformConfig, platformHostTest, Reactions, serviceContext } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { issuerHost } from '../../settings/credential-configuration/configurations-under.js';
import { IssuerDomainUsage } from './issuer-domain-usage.js';
import { recordDomainChange } from '../../settings/withdrawn-domains/withdrawn-domains.decisions.js';
import { withdrawnDomains, withdrawnDomainsStream } from '../../settings/withdrawn-domains/withdrawn-domains.state.js';

/** How long a change by another process may take to become visible; own changes are visible at once. A withdrawal must take effect within a second. */
const MAX_AGE_MS = 500;

/**
 * Whether an issuer lies under a domain that its tenant has lost, or under a host of the platform that is not its tenant's: credentials issued
 * under it would not be valid.
 */
@Injectable()
export class WithdrawnDomains implements OnApplicationBootstrap {
  private readonly known = new LRUCache<string, { domains: readonly string[]; at: number }>({ max: 10_000 });

  private readonly isPlatformHost: (host: string) => boolean;

  constructor(
    private readonly streams: Streams,
    private readonly reactions: Reactions,
    private readonly usage: IssuerDomainUsage,
    @Inject(CLOCK) private readonly clock: Clock,
    config: PlatformConfig,
  ) {
    this.isPlatformHost = platformHostTest(config);
  }

  onApplicationBootstrap(): void {
    this.reactions.consumeEach('issuance.withdrawn-domains', (message) => this.recordDomainChange(message));
    // Published by release 0.2.0 only: without the consumer, its checkpoint would hold the messages of a data folder's feed.
    this.reactions.consumeEach('issuance.issuer-domains', (message) => this.recordDomainChange(message));
  }

  /**
   * @param issuer DID or credential issuer identifier
   * @param ownHost of the tenant, which is never withdrawn and costs no read
   */
  async includes(tenantId: string, issuer: string, ownHost: string): Promise<boolean> {
    const host = issuerHost(issuer);
    if (host === undefined || host === ownHost) return false;
    // DIDs created before such hosts were refused at creation (ADR 0051: they would be impersonated).
    return this.isPlatformHost(host) || (await this.domainsOf(tenantId)).includes(host);
  }

  private async domainsOf(tenantId: string): Promise<readonly string[]> {
    const now = this.clock.now().getTime();
    const known = this.known.get(tenantId);
    if (known && now - known.at < MAX_AGE_MS) return known.domains;
    const { domains } = (await this.streams.load(withdrawnDomains, withdrawnDomainsStream(tenantId))).state;
    this.known.set(tenantId, { domains, at: now });
    return domains;
  }

  private async recordDomainChange({ subject, headers, data }: FeedMessage): Promise<void> {
    const { tenantId, domain, revision } = data as CustomDomainChanged;
    const isVerified = subject !== customDomainWithdrawn.subject;
    const activeConfigurations = isVerified ? 0 : await this.usage.count(tenantId, domain);
    const { state } = await this.streams.runDecision(
      withdrawnDomains,
      withdrawnDomainsStream(tenantId),
      (before) => recordDomainChange(before, { domain, revision, isVerified }, { activeConfigurations }),
      serviceContext('issuance.withdrawn-domains', tenantId, headers['requestId'] ?? ''),
    );
    this.known.set(tenantId, { domains: state.domains, at: this.clock.now().getTime() });
  }
}
