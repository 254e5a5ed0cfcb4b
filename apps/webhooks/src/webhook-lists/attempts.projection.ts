import type { WebhookAttempt, WebhookEventType } from '@attestry/contracts';
import { readEvent } from '@attestry/event-store';
import { createTable, insertRows, putRows, type Projection } from '@attestry/read-model';
import { purgingTenants } from '@attestry/service-kit';
import type { Transaction } from 'kysely';
import type {
  CancelReason,
  ScheduledDelivery,
  WebhookDeliveryEvent,
} from '../webhook-delivery/webhook-delivery.events.js';
import { webhookDelivery } from '../webhook-delivery/webhook-delivery.state.js';

/** How long an attempt is listed, milliseconds: 30 days. */
const ATTEMPTS_KEPT_MS = 30 * 86_400_000;

export interface AttemptTables {
  /** Every request that was sent, and its outcome. `id` is the delivery id, `created_at` when it was sent. */
  webhook_attempt: {
    tenant_id: string;
    id: string;
    webhook_id: string;
    delivery_key: string;
    event_id: string;
    event_type: WebhookEventType;
    event_at: string;
    attempt: number;
    status: WebhookAttempt['status'];
    http_status: number | null;
    error: string | null;
    created_at: string;
    ended_at: string | null;
    next_attempt_at: string | null;
    cancelled: CancelReason | null;
  };
}

type Row = AttemptTables['webhook_attempt'];

/** Older attempts are not listed. */
export const keptSince = (now: string): string => new Date(Date.parse(now) - ATTEMPTS_KEPT_MS).toISOString();

/**
 * The attempts of each webhook, apart from the sender's queue so that sending does not wait for it. It is not declared: attempts of all tenants
 * are removed by their age.
 */
export const attemptsProjection: Projection<AttemptTables> = purgingTenants('webhooks', {
  name: 'webhooks.attempts',
  version: 1,
  categories: [webhookDelivery.category],
  types: Object.keys(webhookDelivery.types),
  tables: ['webhook_attempt'],
  async create(db) {
    await createTable(db, 'webhook_attempt', {
      text: [
        'tenant_id',
        'id',
        'webhook_id',
        'delivery_key',
        'event_id',
        'event_type',
        'event_at',
        'status',
        'created_at',
      ],
      nullableText: ['error', 'ended_at', 'next_attempt_at', 'cancelled'],
      integer: ['attempt'],
      nullableInteger: ['http_status'],
      primaryKey: ['tenant_id', 'id'],
      indexes: {
        webhook_attempt_list: ['tenant_id', 'webhook_id', 'created_at', 'id'],
        // Expired rows are found without reading the rest; a row is added at its end.
        webhook_attempt_age: ['created_at'],
      },
    });
  },
  async project(trx, events) {
    const changes = events.map((stored) => ({
      tenantId: stored.metadata.tenantId,
      at: stored.metadata.occurredAt,
      event: readEvent(webhookDelivery, stored),
    }));
    const known = await earlier(trx, changes);
    const started = new Set<Row>();
    const changed = new Set<Row>();
    const change = (tenantId: string, id: string | undefined, values: (row: Row) => Partial<Row>) => {
      const row = id === undefined ? undefined : known.get(tenantId + id);
      if (!row) return;
      changed.add(Object.assign(row, values(row)));
    };
    const start = (attempt: Started) => {
      const row = rowOf(attempt);
      known.set(attempt.tenantId + attempt.deliveryId, row);
      started.add(row);
    };
    for (const { tenantId, at, event } of changes)
      switch (event.type) {
        case 'DeliveryScheduled': {
          const { deliveryId, attemptAt, ...delivery } = event.data;
          if (deliveryId !== undefined) start({ ...delivery, tenantId, deliveryId, attempt: 1, startedAt: attemptAt });
          break;
        }
        case 'DeliveryAttemptStarted': {
          change(tenantId, event.data.instead, () => ({ ...INTERRUPTED, ended_at: at }));
          start({ ...event.data, tenantId });
          break;
        }
        case 'DeliverySucceeded': {
          const { deliveryId, status } = event.data;
          change(tenantId, deliveryId, () => ({ status: 'Delivered', http_status: status, ended_at: at }));
          break;
        }
        case 'DeliveryAttemptFailed': {
          const { deliveryId, status = null, error = null, nextAttemptAt = null } = event.data;
          change(tenantId, deliveryId, () => ({
            status: 'Failed',
            http_status: status,
            error,
            ended_at: at,
            next_attempt_at: nextAttemptAt,
          }));
          break;
        }
        case 'DeliveryCancelled': {
          const { deliveryId, reason } = event.data;
          change(tenantId, deliveryId, ({ status }) => ({
            ...(status === 'Started' && { ...INTERRUPTED, ended_at: at }),
            next_attempt_at: null,
            cancelled: reason,
          }));
          break;
        }
        // Not requests.
        case 'DeliveryRequeued':
        case 'DeliveryExhausted':
          break;
      }
    await insertRows(trx, 'webhook_attempt', [...started]);
    const earlierOnes = [...changed].filter((row) => !started.has(row));
    await putRows(trx, 'webhook_attempt', ['tenant_id', 'id'], earlierOnes);
    const newest = changes.at(-1);
    if (newest) await trx.deleteFrom('webhook_attempt').where('created_at', '<', keptSince(newest.at)).execute();
  },
});

/** An attempt without a recorded outcome: its sender ended, or the delivery did. */
const INTERRUPTED = { status: 'Failed', error: 'interrupted' } as const;

interface Started extends Pick<ScheduledDelivery, 'deliveryKey' | 'webhookId' | 'event'> {
  tenantId: string;
  deliveryId: string;
  attempt: number;
  startedAt: string;
}

const rowOf = ({ tenantId, deliveryId, webhookId, deliveryKey, event, attempt, startedAt }: Started): Row => ({
  tenant_id: tenantId,
  id: deliveryId,
  webhook_id: webhookId,
  delivery_key: deliveryKey,
  event_id: event.id,
  event_type: event.type,
  event_at: event.timestamp,
  attempt,
  status: 'Started',
  http_status: null,
  error: null,
  created_at: startedAt,
  ended_at: null,
  next_attempt_at: null,
  cancelled: null,
});

type Change = { tenantId: string; event: WebhookDeliveryEvent };

/** Rows of earlier batches that this batch changes, in one query per tenant. */
const earlier = async (trx: Transaction<AttemptTables>, changes: readonly Change[]): Promise<Map<string, Row>> => {
  const known = new Map<string, Row>();
  for (const [tenantId, ofTenant] of Map.groupBy(changes, (change) => change.tenantId)) {
    const ids = new Set<string>();
    const started = new Set<string>();
    for (const { event } of ofTenant) {
      const deliveryId = 'deliveryId' in event.data ? event.data.deliveryId : undefined;
      const starts = event.type === 'DeliveryScheduled' || event.type === 'DeliveryAttemptStarted';
      if (starts && deliveryId !== undefined) started.add(deliveryId);
      const changed = event.type === 'DeliveryAttemptStarted' ? event.data.instead : deliveryId;
      if (changed !== undefined && !started.has(changed)) ids.add(changed);
    }
    for (const some of chunks([...ids])) {
      const rows = await trx
        .selectFrom('webhook_attempt')
        .selectAll()
        .where('tenant_id', '=', tenantId)
        .where('id', 'in', some)
        .execute();
      for (const row of rows) known.set(tenantId + row.id, row);
    }
  }
  return known;
};

/** The number of parameters of a statement is limited. */
const chunks = (ids: readonly string[], size = 500): string[][] =>
  Array.from({ length: Math.ceil(ids.length / size) }, (_, at) => ids.slice(at * size, (at + 1) * size));
