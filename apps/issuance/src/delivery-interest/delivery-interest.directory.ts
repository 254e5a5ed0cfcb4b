import { Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { webhookSaved, type webhookDeleted, type IntegrationEventType, type WebhookEvent } from '@attestry/contracts';
import { Streams, type Clock } from '@attestry/event-store';
import type { FeedMessage } from '@attestry/messaging';
import { CLOCK, Reactions, serviceContext } from '@attestry/service-kit';
import { LRUCache } from 'lru-cache';
import { recordSubscription } from './delivery-interest.decisions.js';
import { deliveryInterest, deliveryInterestStream } from './delivery-interest.state.js';

type DataOf<T> = T extends IntegrationEventType<infer Data> ? Data : never;

const WANTED: WebhookEvent = 'OpenIdCredentialIssued';
/** How long a change by another process may go unseen; own changes are seen at once. */
const MAX_AGE_MS = 1000;

/** Whether a tenant has an enabled webhook that subscribes to issued credentials: only then they are kept for delivery. */
@Injectable()
export class DeliveryInterest implements OnApplicationBootstrap {
  private readonly known = new LRUCache<string, { wanted: boolean; at: number }>({ max: 10_000 });

  constructor(
    private readonly streams: Streams,
    private readonly reactions: Reactions,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.reactions.consumeEach('issuance.delivery-interest', (message) => this.recordWebhookChange(message));
  }

  /** Stored in a stream of the tenant, so that it survives restarts and reaches other processes. */
  async hasSubscription(tenantId: string): Promise<boolean> {
    const now = this.clock.now().getTime();
    const known = this.known.get(tenantId);
    if (known && now - known.at < MAX_AGE_MS) return known.wanted;
    const { state } = await this.streams.load(deliveryInterest, deliveryInterestStream(tenantId));
    const wanted = state.webhookIds.length > 0;
    this.known.set(tenantId, { wanted, at: now });
    return wanted;
  }

  private async recordWebhookChange({ subject, headers, data }: FeedMessage): Promise<void> {
    const saved = subject === webhookSaved.subject ? (data as DataOf<typeof webhookSaved>) : undefined;
    const { tenantId, webhookId } = saved ?? (data as DataOf<typeof webhookDeleted>);
    const wanted = saved !== undefined && !saved.disabled && saved.events.includes(WANTED);
    const { state } = await this.streams.runDecision(
      deliveryInterest,
      deliveryInterestStream(tenantId),
      (before) => recordSubscription(before, { webhookId, wanted }),
      serviceContext('issuance.delivery-interest', tenantId, headers['requestId'] ?? ''),
    );
    this.known.set(tenantId, { wanted: state.webhookIds.length > 0, at: this.clock.now().getTime() });
  }
}
