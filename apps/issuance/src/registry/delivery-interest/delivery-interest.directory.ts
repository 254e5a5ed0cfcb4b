import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { webhookSaved, type webhookDeleted, type IntegrationEventType, type WebhookEvent } from '@attestry/contracts';
import { Streams } from '@attestry/event-store';
import type { FeedMessage } from '@attestry/messaging';
import { Reactions, serviceContext } from '@attestry/service-kit';
import { RecentStates } from '../../reading/recent-states/recent-states.js';
import { recordSubscription } from './delivery-interest.decisions.js';
import { deliveryInterest, deliveryInterestStream } from './delivery-interest.state.js';

type DataOf<T> = T extends IntegrationEventType<infer Data> ? Data : never;

const WANTED: WebhookEvent = 'OpenIdCredentialIssued';

/** Whether a tenant has an enabled webhook that subscribes to issued credentials: only then they are kept for delivery. */
@Injectable()
export class DeliveryInterest implements OnApplicationBootstrap {
  constructor(
    private readonly streams: Streams,
    private readonly reactions: Reactions,
    private readonly recent: RecentStates,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.consumeEach('issuance.delivery-interest', (message) => this.recordWebhookChange(message));
  }

  /** Stored in a stream of the tenant, so that it survives restarts and reaches other processes. */
  async hasSubscription(tenantId: string): Promise<boolean> {
    // In line, as this is asked for each credential.
    const { state } = await this.recent.load(deliveryInterest, `${deliveryInterest.category}-${tenantId}`);
    return state.webhookIds.length > 0;
  }

  private async recordWebhookChange({ subject, headers, data }: FeedMessage): Promise<void> {
    const saved = subject === webhookSaved.subject ? (data as DataOf<typeof webhookSaved>) : undefined;
    const { tenantId, webhookId } = saved ?? (data as DataOf<typeof webhookDeleted>);
    const wanted = saved !== undefined && !saved.disabled && saved.events.includes(WANTED);
    await this.streams.runDecision(
      deliveryInterest,
      deliveryInterestStream(tenantId),
      (before) => recordSubscription(before, { webhookId, wanted }),
      serviceContext('issuance.delivery-interest', tenantId, headers['requestId'] ?? ''),
    );
  }
}
