import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { customDomainVerified, customDomainWithdrawn } from '@attestry/contracts';
import { readEvent, Streams, type RecordedEvent } from '@attestry/event-store';
import type { FeedMessage } from '@attestry/messaging';
import { fact, Reactions, recordPurgedTenants, serviceContext, type Fact } from '@attestry/service-kit';
import { authenticationProvider } from './authentication-provider/authentication-provider.state.js';
import { ProviderSecrets } from './authentication-provider/provider-secrets.js';
import { endWithTenant } from './custom-domain/custom-domain.decisions.js';
import { customDomain, customDomainStream, type ConfiguredDomain } from './custom-domain/custom-domain.state.js';
import { VerifiedDomains } from './custom-domain/verified-domains.js';

/** Categories of the events in {@link factsOf}. No other service needs claims of domains. */
export const PUBLISHED = [customDomain, authenticationProvider] as const;

/** The integration event of a domain event. */
export const factsOf = (stored: RecordedEvent): Fact[] => {
  const { tenantId } = stored.metadata;
  const { revision } = stored;
  // No other service needs providers yet; the event still reports what their requests committed.
  if (!stored.stream.startsWith(`${customDomain.category}-`)) return [];
  const event = readEvent(customDomain, stored);
  switch (event.type) {
    case 'CustomDomainVerified':
      return [fact(customDomainVerified, { tenantId, domain: event.data.domain, revision })];
    case 'CustomDomainVerificationWithdrawn':
      return [fact(customDomainWithdrawn, { tenantId, domain: event.data.domain, revision })];
    case 'CustomDomainReplaced':
    case 'CustomDomainDeleted': {
      const { domain, wasVerified } = event.type === 'CustomDomainReplaced' ? event.data.replaced : event.data;
      return wasVerified ? [fact(customDomainWithdrawn, { tenantId, domain, revision })] : [];
    }
    case 'CustomDomainCreated':
    case 'CustomDomainBrandChanged':
      return [];
  }
};

@Injectable()
export class TenantConfigReactions implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly streams: Streams,
    private readonly domains: VerifiedDomains,
    private readonly secrets: ProviderSecrets,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.publishFacts('tenant-config', PUBLISHED, factsOf);
    this.reactions.start({
      name: 'tenant-config.provider-secrets',
      of: [authenticationProvider],
      onEvents: async (events) => {
        for (const stored of events) await this.destroySecret(stored);
      },
    });
    recordPurgedTenants('tenant-config.purged-tenants', this.reactions, this.streams);
    this.reactions.consumeEach('tenant-config.deleted-tenants', (message) => this.endDomain(message));
  }

  private async destroySecret(stored: RecordedEvent): Promise<void> {
    const event = readEvent(authenticationProvider, stored);
    if (event.type === 'AuthenticationProviderDeleted')
      await this.secrets.destroy(stored.metadata.tenantId, event.data.providerId);
  }

  /** Another tenant may use the domain of a deleted one. */
  private async endDomain({ headers, data }: FeedMessage): Promise<void> {
    const { tenantId } = data as { tenantId: string };
    const context = serviceContext('tenant-config.deleted-tenants', tenantId, headers['requestId'] ?? '');
    let before: ConfiguredDomain | undefined;
    await this.streams.runDecision(
      customDomain,
      customDomainStream(tenantId),
      (state) => {
        before = state.status === 'configured' ? state : undefined;
        return endWithTenant(state);
      },
      context,
    );
    if (before?.verifiedAt !== undefined) await this.domains.release({ ...before, owner: tenantId }, context);
  }
}
