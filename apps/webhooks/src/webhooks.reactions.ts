import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { webhookDeleted, webhookSaved } from '@attestry/contracts';
import { readEvent, Streams, type RecordedEvent } from '@attestry/event-store';
import { Sealing } from '@attestry/keys';
import { fact, Reactions, type Fact, recordPurgedTenants } from '@attestry/service-kit';
import { deliveryKeyOf } from './webhook-delivery/delivery-key.js';
import { hasEnded, webhookDelivery, webhookDeliveryStream } from './webhook-delivery/webhook-delivery.state.js';
import { webhookKeys } from './webhook-keys/webhook-keys.state.js';
import { webhook } from './webhook/webhook.state.js';

/** Categories of the events in {@link factsOf}. */
export const PUBLISHED = [webhook, webhookKeys] as const;

/** The integration event of a domain event. */
export const factsOf = (stored: RecordedEvent): Fact[] => {
  // No other service signs; the event is published so that a rotation counts as committed by its request.
  if (stored.stream.startsWith(`${webhookKeys.category}-`)) return [];
  const { tenantId } = stored.metadata;
  const event = readEvent(webhook, stored);
  const { webhookId } = event.data;
  switch (event.type) {
    case 'WebhookCreated':
    case 'WebhookEventsChanged': {
      const { events, disabled } = event.data;
      return [fact(webhookSaved, { tenantId, webhookId, events, disabled })];
    }
    case 'WebhookDisabled':
    case 'WebhookEnabled': {
      const { events } = event.data;
      return [fact(webhookSaved, { tenantId, webhookId, events, disabled: event.type === 'WebhookDisabled' })];
    }
    case 'WebhookDeleted':
      return [fact(webhookDeleted, { tenantId, webhookId })];
    // No other service has a webhook's target.
    case 'WebhookUrlChanged':
      return [];
  }
};

@Injectable()
export class WebhooksReactions implements OnApplicationBootstrap {
  constructor(
    private readonly reactions: Reactions,
    private readonly streams: Streams,
    private readonly sealing: Sealing,
  ) {}

  onApplicationBootstrap(): void {
    recordPurgedTenants('webhooks.purged-tenants', this.reactions, this.streams);
    this.reactions.publishFacts('webhooks', PUBLISHED, factsOf);
    this.reactions.start({
      name: 'webhooks.delivery-keys',
      of: [webhookDelivery],
      onEvents: (events) => this.destroyDeliveryKeys(events),
    });
  }

  /** A credential's delivery key is destroyed with the last delivery that needs it, whatever its outcome (ADR 0058). */
  private async destroyDeliveryKeys(events: readonly RecordedEvent[]): Promise<void> {
    const done = new Map<string, Set<string>>();
    for (const stored of events) {
      const { tenantId } = stored.metadata;
      if (!['DeliverySucceeded', 'DeliveryExhausted', 'DeliveryCancelled'].includes(stored.type)) continue;
      const { state } = await this.streams.load(webhookDelivery, stored.stream);
      if (state.status === 'absent' || !state.delivery.sealedCredential) continue;
      const { event, sealedCredential, sharedBy = [] } = state.delivery;
      const others = await Promise.all(
        sharedBy.map((webhookId) =>
          this.streams.load(
            webhookDelivery,
            webhookDeliveryStream(tenantId, deliveryKeyOf(event.id, webhookId, event.type)),
          ),
        ),
      );
      if (others.every((other) => hasEnded(other.state)))
        done.set(tenantId, (done.get(tenantId) ?? new Set()).add(sealedCredential.keyId));
    }
    for (const [tenantId, keyIds] of done) await this.sealing.destroyDataKeys(tenantId, [...keyIds]);
  }
}
