import { readEvent, type RecordedEvent } from '@attestry/event-store';
import { insertRows, createTable, BatchedRows, type Projection } from '@attestry/read-model';
import { purgingTenants } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type { CancelReason } from '../webhook-delivery/webhook-delivery.events.js';
import { webhookDelivery } from '../webhook-delivery/webhook-delivery.state.js';
import { hostOf, webhook } from '../webhook/webhook.state.js';

export interface WebhookTables {
  /** `events` is JSON; `disabled` 0 or 1; `revision` that of the newest event projected. */
  webhook: {
    tenant_id: string;
    id: string;
    url: string;
    host: string;
    events: string;
    disabled: number;
    revision: number;
    created_at: string;
  };
  /** Pending deliveries only. `due_at` '' means at once; `cancel` is the reason why it must not be sent any more. */
  delivery: {
    tenant_id: string;
    delivery_key: string;
    webhook_id: string;
    /** User that the event is about; '' without one. */
    user_id: string;
    key_id: string | null;
    request_id: string;
    due_at: string;
    cancel: CancelReason | null;
  };
}

/** The subscriptions, and their pending deliveries: the list operation's pages and the sender's queue. */
export const webhooksProjection: Projection<WebhookTables> = purgingTenants('webhooks', {
  name: 'webhooks.webhooks',
  version: 1,
  categories: [webhook.category, webhookDelivery.category],
  types: [...Object.keys(webhook.types), ...Object.keys(webhookDelivery.types)],
  tables: ['webhook', 'delivery'],
  async create(db) {
    await createTable(db, 'webhook', {
      text: ['tenant_id', 'id', 'url', 'host', 'events', 'created_at'],
      integer: ['disabled', 'revision'],
      primaryKey: ['tenant_id', 'id'],
    });
    await createTable(db, 'delivery', {
      text: ['tenant_id', 'delivery_key', 'webhook_id', 'user_id', 'request_id', 'due_at'],
      nullableText: ['key_id', 'cancel'],
      primaryKey: ['tenant_id', 'delivery_key'],
      indexes: { delivery_due: ['due_at'] },
    });
  },
  async project(trx, events) {
    const deliveries: Deliveries = new BatchedRows(trx, 'delivery', ['tenant_id', 'delivery_key']);
    for (const stored of events) {
      if (stored.stream.startsWith(`${webhook.category}-`)) {
        // It may change deliveries of the webhook: all earlier ones must be written.
        await deliveries.write();
        await projectWebhook(trx, stored);
      } else await projectDelivery(trx, deliveries, stored);
    }
    await deliveries.write();
  },
});

type Deliveries = BatchedRows<WebhookTables, 'delivery'>;

const projectWebhook = async (trx: Transaction<WebhookTables>, stored: RecordedEvent): Promise<void> => {
  const { tenantId } = stored.metadata;
  const { revision } = stored;
  const event = readEvent(webhook, stored);
  const { webhookId } = event.data;
  const set = (values: Partial<WebhookTables['webhook']>) =>
    trx
      .updateTable('webhook')
      .set({ ...values, revision })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', webhookId)
      .execute();
  switch (event.type) {
    case 'WebhookCreated': {
      const { url, events, disabled, createdAt } = event.data;
      await insertRows(trx, 'webhook', [
        {
          tenant_id: tenantId,
          id: webhookId,
          url,
          host: hostOf(url),
          events: JSON.stringify(events),
          disabled: disabled ? 1 : 0,
          revision,
          created_at: createdAt,
        },
      ]);
      return;
    }
    case 'WebhookUrlChanged':
      await set({ url: event.data.url, host: hostOf(event.data.url) });
      return;
    case 'WebhookEventsChanged':
      await set({ events: JSON.stringify(event.data.events) });
      return;
    case 'WebhookEnabled':
      await set({ disabled: 0 });
      return;
    case 'WebhookDisabled':
      await set({ disabled: 1 });
      await cancelPending(trx, tenantId, webhookId, 'webhook-disabled');
      return;
    case 'WebhookDeleted':
      await trx.deleteFrom('webhook').where('tenant_id', '=', tenantId).where('id', '=', webhookId).execute();
      await cancelPending(trx, tenantId, webhookId, 'webhook-deleted');
      return;
  }
};

/** Makes them due at once, so that the sender cancels them. */
const cancelPending = (trx: Transaction<WebhookTables>, tenantId: string, webhookId: string, reason: CancelReason) =>
  trx
    .updateTable('delivery')
    .set({ due_at: '', cancel: reason })
    .where('tenant_id', '=', tenantId)
    .where('webhook_id', '=', webhookId)
    .execute();

const projectDelivery = async (
  trx: Transaction<WebhookTables>,
  deliveries: Deliveries,
  stored: RecordedEvent,
): Promise<void> => {
  const { tenantId, requestId } = stored.metadata;
  const event = readEvent(webhookDelivery, stored);
  const { deliveryKey } = event.data;
  const pending = (webhookId: string, dueAt: string, userId = '', keyId: string | null = null) => ({
    tenant_id: tenantId,
    delivery_key: deliveryKey,
    webhook_id: webhookId,
    user_id: userId,
    key_id: keyId,
    request_id: requestId,
    due_at: dueAt,
    cancel: null,
  });
  switch (event.type) {
    case 'DeliveryScheduled': {
      const { webhookId, payload, sealedCredential, attemptAt } = event.data;
      deliveries.insert(pending(webhookId, attemptAt, payload.userId, sealedCredential?.keyId));
      return;
    }
    case 'DeliveryRequeued': {
      const { webhookId, userId, keyId, attemptAt } = event.data;
      deliveries.put(pending(webhookId, attemptAt, userId, keyId));
      return;
    }
    // Stays due: when a sender ends during an attempt, the next one repeats it.
    case 'DeliveryAttemptStarted':
      return;
    case 'DeliveryAttemptFailed': {
      const { nextAttemptAt } = event.data;
      if (nextAttemptAt === undefined) return;
      const gathered = deliveries.gathered(tenantId, deliveryKey);
      if (gathered) {
        gathered.due_at = nextAttemptAt;
        return;
      }
      await trx
        .updateTable('delivery')
        .set({ due_at: nextAttemptAt })
        .where('tenant_id', '=', tenantId)
        .where('delivery_key', '=', deliveryKey)
        .where('cancel', 'is', null)
        .execute();
      return;
    }
    case 'DeliverySucceeded':
    case 'DeliveryExhausted':
    case 'DeliveryCancelled':
      deliveries.remove(tenantId, deliveryKey);
      return;
  }
};
