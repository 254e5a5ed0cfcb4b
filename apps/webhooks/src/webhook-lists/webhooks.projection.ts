import { declareTables, defineProjection, nothing, type EventSource } from '@attestry/read-model';
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

const tables = declareTables<WebhookTables>({
  webhook: {
    text: ['tenant_id', 'id', 'url', 'host', 'events', 'created_at'],
    integer: ['disabled', 'revision'],
    primaryKey: ['tenant_id', 'id'],
  },
  delivery: {
    text: ['tenant_id', 'delivery_key', 'webhook_id', 'user_id', 'request_id', 'due_at'],
    nullableText: ['key_id', 'cancel'],
    primaryKey: ['tenant_id', 'delivery_key'],
    indexes: { delivery_due: ['due_at'] },
  },
});
const { webhook: webhooks, delivery: deliveries } = tables;

type Pending = { deliveryKey: string; webhookId: string; attemptAt: string; userId?: string; keyId?: string };
const pendingRow = (pending: Pending, { tenantId, requestId }: EventSource): WebhookTables['delivery'] => ({
  tenant_id: tenantId,
  delivery_key: pending.deliveryKey,
  webhook_id: pending.webhookId,
  user_id: pending.userId ?? '',
  key_id: pending.keyId ?? null,
  request_id: requestId,
  due_at: pending.attemptAt,
  cancel: null,
});

const set = (
  { webhookId }: { webhookId: string },
  { tenantId, revision }: EventSource,
  values: Partial<WebhookTables['webhook']>,
) => webhooks.set({ tenant_id: tenantId, id: webhookId }, { ...values, revision });

/** Makes them due at once, so that the sender cancels them. */
const cancelPending = (tenantId: string, webhookId: string, reason: CancelReason) =>
  deliveries.set({ tenant_id: tenantId, webhook_id: webhookId }, { due_at: '', cancel: reason });

const removeDelivery = ({ data }: { data: { deliveryKey: string } }, { tenantId }: EventSource) =>
  deliveries.remove({ tenant_id: tenantId, delivery_key: data.deliveryKey });

/** The subscriptions, and their pending deliveries: the list operation's pages and the sender's queue. */
export const webhooksProjection = defineProjection({
  name: 'webhooks.webhooks',
  version: 1,
  aggregates: [webhook, webhookDelivery],
  tables,
  on: {
    WebhookCreated: ({ data }, { tenantId, revision }) =>
      webhooks.insert({
        tenant_id: tenantId,
        id: data.webhookId,
        url: data.url,
        host: hostOf(data.url),
        events: JSON.stringify(data.events),
        disabled: data.disabled ? 1 : 0,
        revision,
        created_at: data.createdAt,
      }),
    WebhookUrlChanged: ({ data }, source) => set(data, source, { url: data.url, host: hostOf(data.url) }),
    WebhookEventsChanged: ({ data }, source) => set(data, source, { events: JSON.stringify(data.events) }),
    WebhookEnabled: ({ data }, source) => set(data, source, { disabled: 0 }),
    WebhookDisabled: ({ data }, source) => [
      set(data, source, { disabled: 1 }),
      cancelPending(source.tenantId, data.webhookId, 'webhook-disabled'),
    ],
    WebhookDeleted: ({ data }, { tenantId }) => [
      webhooks.remove({ tenant_id: tenantId, id: data.webhookId }),
      cancelPending(tenantId, data.webhookId, 'webhook-deleted'),
    ],
    DeliveryScheduled: ({ data: { payload, sealedCredential, ...delivery } }, source) =>
      deliveries.insert(pendingRow({ ...delivery, userId: payload.userId, keyId: sealedCredential?.keyId }, source)),
    DeliveryRequeued: ({ data }, source) => deliveries.put(pendingRow(data, source)),
    // Stays due: when a sender ends during an attempt, the next one repeats it.
    DeliveryAttemptStarted: nothing,
    DeliveryAttemptFailed: ({ data: { deliveryKey, nextAttemptAt } }, { tenantId }) =>
      nextAttemptAt === undefined
        ? []
        : deliveries.set({ tenant_id: tenantId, delivery_key: deliveryKey, cancel: null }, { due_at: nextAttemptAt }),
    DeliverySucceeded: removeDelivery,
    DeliveryExhausted: removeDelivery,
    DeliveryCancelled: removeDelivery,
  },
});
