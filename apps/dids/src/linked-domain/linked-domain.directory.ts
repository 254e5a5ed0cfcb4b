import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { customDomainVerified, type CustomDomainChanged } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { FeedMessage } from '@attestry/messaging';
import { Reactions, serviceContext } from '@attestry/service-kit';
import { recordDomainChange } from './linked-domain.decisions.js';
import { linkedDomain, linkedDomainStream, type LinkedDomainState } from './linked-domain.state.js';

/** Keeps which custom domain a tenant has verified. */
@Injectable()
export class LinkedDomain implements OnApplicationBootstrap {
  constructor(
    private readonly streams: Streams,
    private readonly reactions: Reactions,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.consumeEach('dids.linked-domain', (message) => this.recordDomainChange(message));
  }

  async loadLinkedDomain(tenantId: string): Promise<LinkedDomainState> {
    return (await this.streams.load(linkedDomain, linkedDomainStream(tenantId))).state;
  }

  private async recordDomainChange({ subject, headers, data }: FeedMessage): Promise<void> {
    const { tenantId, domain, revision } = data as CustomDomainChanged;
    const isVerified = subject === customDomainVerified.subject;
    await this.streams.runDecision(
      linkedDomain,
      linkedDomainStream(tenantId),
      (state) => recordDomainChange(state, { domain, revision, isVerified }),
      serviceContext('dids.linked-domain', tenantId, headers['requestId'] ?? ''),
    );
  }
}
