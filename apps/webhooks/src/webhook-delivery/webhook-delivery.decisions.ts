import { conflict, notFound } from '@attestry/contracts';
import type { CancelReason, ScheduledDelivery, WebhookDeliveryEvent } from './webhook-delivery.events.js';
import { isPending, type WebhookDeliveryState } from './webhook-delivery.state.js';

/** Once: an existing delivery is not changed by a retry. */
export const scheduleDelivery = (state: WebhookDeliveryState, delivery: ScheduledDelivery): WebhookDeliveryEvent[] =>
  state.status === 'absent' ? [{ type: 'DeliveryScheduled', data: delivery }] : [];

export interface StartFacts {
  now: string;
  /** Why it may no longer be sent, if so. */
  cancelled?: CancelReason;
}

/**
 * The next attempt, when it is due. An attempt without a recorded outcome is repeated under the same number: the receiver may have got it,
 * so it may arrive twice (delivery is at least once).
 */
export const startAttempt = (
  state: WebhookDeliveryState,
  { deliveryId }: { deliveryId: string },
  { now, cancelled }: StartFacts,
): WebhookDeliveryEvent[] => {
  if (!isPending(state)) return [];
  if (cancelled) return cancelDelivery(state, cancelled);
  if (now < state.attemptAt) return [];
  const { deliveryKey, webhookId, event } = state.delivery;
  const attempt = state.attempts + 1;
  const instead = state.status === 'attempting' ? { instead: state.deliveryId } : {};
  return [
    {
      type: 'DeliveryAttemptStarted',
      data: { deliveryKey, deliveryId, attempt, startedAt: now, webhookId, event, ...instead },
    },
  ];
};

export interface AttemptOutcome {
  deliveryId: string;
  /** HTTP status; absent without a response. */
  status?: number;
  /** Error code when there was no response. */
  error?: string;
}

export interface OutcomeFacts {
  now: string;
  /** Seconds before each retry; as many retries as entries. */
  retrySeconds: readonly number[];
  /** -0.2 to 0.2: jitter of the pause, so that retries do not coincide. */
  jitter: number;
}

/** Any 2xx; a redirect is a failure. */
export const isSuccess = ({ status }: { status?: number }): boolean =>
  status !== undefined && status >= 200 && status < 300;

/** An outcome of another attempt than the one in flight changes nothing. */
export const endAttempt = (
  state: WebhookDeliveryState,
  { deliveryId, status, error }: AttemptOutcome,
  { now, retrySeconds, jitter }: OutcomeFacts,
): WebhookDeliveryEvent[] => {
  if (state.status !== 'attempting' || state.deliveryId !== deliveryId) return [];
  const { deliveryKey } = state.delivery;
  const attempt = state.attempts + 1;
  if (status !== undefined && isSuccess({ status }))
    return [{ type: 'DeliverySucceeded', data: { deliveryKey, deliveryId, attempt, status } }];
  const pause = retrySeconds[attempt - 1];
  const failed: WebhookDeliveryEvent = {
    type: 'DeliveryAttemptFailed',
    data: {
      deliveryKey,
      deliveryId,
      attempt,
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
      ...(pause !== undefined && {
        nextAttemptAt: new Date(Date.parse(now) + Math.round(pause * (1 + jitter) * 1000)).toISOString(),
      }),
    },
  };
  if (pause !== undefined) return [failed];
  return [failed, { type: 'DeliveryExhausted', data: { deliveryKey, attempts: attempt } }];
};

export const cancelDelivery = (state: WebhookDeliveryState, reason: CancelReason): WebhookDeliveryEvent[] => {
  if (!isPending(state)) return [];
  const { delivery, deliveryId } = state;
  return [
    {
      type: 'DeliveryCancelled',
      data: { deliveryKey: delivery.deliveryKey, reason, ...(deliveryId !== undefined && { deliveryId }) },
    },
  ];
};

/** Again from the first attempt, whatever the outcome was. @throws 404 when it does not exist, 409 while it is being retried */
export const requeueDelivery = (state: WebhookDeliveryState, facts: { now: string }): WebhookDeliveryEvent[] => {
  if (state.status === 'absent') throw notFound();
  if (isPending(state)) throw conflict('The delivery of this event to this webhook is still pending');
  const { deliveryKey, webhookId, payload, sealedCredential } = state.delivery;
  const userId = payload.userId;
  return [
    {
      type: 'DeliveryRequeued',
      data: {
        deliveryKey,
        webhookId,
        ...(userId !== undefined && { userId }),
        ...(sealedCredential && { keyId: sealedCredential.keyId }),
        attemptAt: facts.now,
      },
    },
  ];
};
