import type { Aggregate } from '@attestry/event-store';
import type { CancelReason, ScheduledDelivery, WebhookDeliveryEvent } from './webhook-delivery.events.js';

export type WebhookDeliveryState =
  | { status: 'absent' }
  /** `attempts`: how many have ended, the newest of them `deliveryId`; the next is due at `attemptAt`. */
  | { status: 'waiting'; delivery: ScheduledDelivery; attempts: number; attemptAt: string; deliveryId?: string }
  /** A request is in flight, or its sender ended before it recorded the outcome. */
  | { status: 'attempting'; delivery: ScheduledDelivery; attempts: number; attemptAt: string; deliveryId: string }
  | { status: 'delivered'; delivery: ScheduledDelivery }
  | { status: 'exhausted'; delivery: ScheduledDelivery }
  | { status: 'cancelled'; delivery: ScheduledDelivery; reason: CancelReason };

export type PendingDelivery = Extract<WebhookDeliveryState, { status: 'waiting' | 'attempting' }>;

export const webhookDeliveryStream = (tenantId: string, deliveryKey: string): string =>
  `webhookDelivery-${tenantId}+${deliveryKey}`;

export const isPending = (state: WebhookDeliveryState): state is PendingDelivery =>
  state.status === 'waiting' || state.status === 'attempting';

export const hasEnded = (state: WebhookDeliveryState): boolean => state.status !== 'absent' && !isPending(state);

const evolve = (state: WebhookDeliveryState, event: WebhookDeliveryEvent): WebhookDeliveryState => {
  if (event.type === 'DeliveryScheduled') {
    const { attemptAt, deliveryId } = event.data;
    const scheduled = { delivery: event.data, attempts: 0, attemptAt };
    return deliveryId === undefined
      ? { status: 'waiting', ...scheduled }
      : { status: 'attempting', ...scheduled, deliveryId };
  }
  if (event.type === 'DeliveryRequeued') {
    if (!('delivery' in state)) return state;
    return { status: 'waiting', delivery: state.delivery, attempts: 0, attemptAt: event.data.attemptAt };
  }
  if (!isPending(state)) return state;
  const { delivery, attempts, attemptAt } = state;
  switch (event.type) {
    case 'DeliveryAttemptStarted':
      return { status: 'attempting', delivery, attempts, attemptAt, deliveryId: event.data.deliveryId };
    case 'DeliveryAttemptFailed': {
      const { attempt, nextAttemptAt, deliveryId } = event.data;
      return { status: 'waiting', delivery, attempts: attempt, attemptAt: nextAttemptAt ?? attemptAt, deliveryId };
    }
    case 'DeliverySucceeded':
      return { status: 'delivered', delivery };
    case 'DeliveryExhausted':
      return { status: 'exhausted', delivery };
    case 'DeliveryCancelled':
      return { status: 'cancelled', delivery, reason: event.data.reason };
  }
};

export const webhookDelivery: Aggregate<WebhookDeliveryState, WebhookDeliveryEvent> = {
  category: 'webhookDelivery',
  initial: { status: 'absent' },
  types: {
    DeliveryScheduled: 3,
    DeliveryAttemptStarted: 1,
    DeliveryAttemptFailed: 1,
    DeliverySucceeded: 1,
    DeliveryExhausted: 1,
    DeliveryCancelled: 1,
    DeliveryRequeued: 1,
  },
  lowestVersions: { DeliveryScheduled: 3 },
  evolve,
};
