import { given, stateAfter } from '@attestry/event-store';
import {
  cancelDelivery,
  endAttempt,
  requeueDelivery,
  scheduleDelivery,
  startAttempt,
} from './webhook-delivery.decisions.js';
import type { ScheduledDelivery, WebhookDeliveryEvent } from './webhook-delivery.events.js';
import { hasEnded, webhookDelivery, type WebhookDeliveryState } from './webhook-delivery.state.js';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1) + seconds * 1000).toISOString();
const delivery: ScheduledDelivery = {
  deliveryKey: 'k',
  webhookId: 'w1',
  event: { id: 'e1', type: 'OpenIdCredentialIssued', timestamp: at(0) },
  payload: {
    format: 'jwt_vc_json',
    userId: 'u1',
    credentialProfile: 'jwt-vc',
    credentialConfigurationId: 'c1',
    credentialId: 'id1',
  },
  sealedCredential: { keyId: 'key', sessionId: 's1' },
  sharedBy: ['k'],
  attemptAt: at(0),
};
const scheduled: WebhookDeliveryEvent = { type: 'DeliveryScheduled', data: delivery };
const { webhookId, event } = delivery;
const started = (attempt: number, seconds = 0, deliveryId = `d${attempt}`, instead?: string): WebhookDeliveryEvent => ({
  type: 'DeliveryAttemptStarted',
  data: {
    deliveryKey: 'k',
    deliveryId,
    attempt,
    startedAt: at(seconds),
    webhookId,
    event,
    ...(instead !== undefined && { instead }),
  },
});
const failed = (attempt: number, next?: number): WebhookDeliveryEvent => ({
  type: 'DeliveryAttemptFailed',
  data: {
    deliveryKey: 'k',
    deliveryId: `d${attempt}`,
    attempt,
    status: 500,
    ...(next !== undefined && { nextAttemptAt: at(next) }),
  },
});
const exhausted: WebhookDeliveryEvent = { type: 'DeliveryExhausted', data: { deliveryKey: 'k', attempts: 4 } };
const cancelled = (deliveryId?: string): WebhookDeliveryEvent => ({
  type: 'DeliveryCancelled',
  data: { deliveryKey: 'k', reason: 'webhook-deleted', ...(deliveryId !== undefined && { deliveryId }) },
});
const facts = { now: at(0), retrySeconds: [10, 60, 360], jitter: 0 };

describe('webhook delivery', () => {
  it('is scheduled once', () => {
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [])
      .when((state) => scheduleDelivery(state, delivery))
      .then([scheduled]);
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled])
      .when((state) => scheduleDelivery(state, { ...delivery, attemptAt: at(9) }))
      .then([]);
  });

  it('starts an attempt when it is due, and not before', () => {
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled])
      .when((state) => startAttempt(state, { deliveryId: 'd1' }, { now: at(0) }))
      .then([started(1)]);
    const retry = given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [
      scheduled,
      started(1),
      failed(1, 10),
    ]);
    retry.when((state) => startAttempt(state, { deliveryId: 'd2' }, { now: at(9.999) })).then([]);
    retry.when((state) => startAttempt(state, { deliveryId: 'd2' }, { now: at(10) })).then([started(2, 10)]);
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [])
      .when((state) => startAttempt(state, { deliveryId: 'd1' }, { now: at(0) }))
      .then([]);
  });

  it('starts with an attempt that is sent at once, and repeated when its sender ended', () => {
    const atOnce = { ...delivery, deliveryId: 'd1' };
    const announced: WebhookDeliveryEvent = { type: 'DeliveryScheduled', data: atOnce };
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [])
      .when((state) => scheduleDelivery(state, atOnce))
      .then([announced]);
    const begun = given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [announced]);
    begun.when((state) => endAttempt(state, { deliveryId: 'd1', status: 500 }, facts)).then([failed(1, 10)]);
    begun.when((state) => endAttempt(state, { deliveryId: 'other', status: 200 }, facts)).then([]);
    begun
      .when((state) => startAttempt(state, { deliveryId: 'again' }, { now: at(5) }))
      .then([started(1, 5, 'again', 'd1')]);
    begun.when((state) => cancelDelivery(state, 'webhook-deleted')).then([cancelled('d1')]);
  });

  it('repeats an attempt whose sender ended, under the same number and a new delivery id', () => {
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1)])
      .when((state) => startAttempt(state, { deliveryId: 'again' }, { now: at(5) }))
      .then([started(1, 5, 'again', 'd1')]);
    // The first sender reports its outcome too late.
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1), started(1, 5, 'again')])
      .when((state) => endAttempt(state, { deliveryId: 'd1', status: 500 }, facts))
      .then([]);
  });

  it.each([200, 202, 204, 299])('succeeds with status %i', (status) =>
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1)])
      .when((state) => endAttempt(state, { deliveryId: 'd1', status }, facts))
      .then([{ type: 'DeliverySucceeded', data: { deliveryKey: 'k', deliveryId: 'd1', attempt: 1, status } }]),
  );

  it.each([100, 199, 300, 301, 307, 404, 500])('fails with status %i', (status) =>
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1)])
      .when((state) => endAttempt(state, { deliveryId: 'd1', status }, facts))
      .then([
        {
          type: 'DeliveryAttemptFailed',
          data: { deliveryKey: 'k', deliveryId: 'd1', attempt: 1, status, nextAttemptAt: at(10) },
        },
      ]),
  );

  it.each([
    [-0.2, 8],
    [0, 10],
    [0.2, 12],
  ])('with jitter %d is retried after %d s', (jitter, next) =>
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1)])
      .when((state) => endAttempt(state, { deliveryId: 'd1', error: 'timeout' }, { ...facts, jitter }))
      .then([
        {
          type: 'DeliveryAttemptFailed',
          data: { deliveryKey: 'k', deliveryId: 'd1', attempt: 1, error: 'timeout', nextAttemptAt: at(next) },
        },
      ]),
  );

  it('waits longer each time and is exhausted after the last retry', () => {
    const second = [scheduled, started(1), failed(1, 10), started(2, 10)];
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, second)
      .when((state) => endAttempt(state, { deliveryId: 'd2', status: 500 }, { ...facts, now: at(10) }))
      .then([failed(2, 70)]);
    const fourth = [...second, failed(2, 70), started(3, 70), failed(3, 430), started(4, 430)];
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, fourth)
      .when((state) => endAttempt(state, { deliveryId: 'd4', status: 500 }, { ...facts, now: at(430) }))
      .then([failed(4), exhausted]);
  });

  it('is cancelled while pending, whether due or not', () => {
    const retry = given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [
      scheduled,
      started(1),
      failed(1, 10),
    ]);
    retry
      .when((state) => startAttempt(state, { deliveryId: 'd2' }, { now: at(1), cancelled: 'webhook-deleted' }))
      .then([cancelled('d1')]);
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1)])
      .when((state) => cancelDelivery(state, 'webhook-deleted'))
      .then([cancelled('d1')]);
  });

  it('names no attempt when it is cancelled before the first', () =>
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled])
      .when((state) => cancelDelivery(state, 'webhook-deleted'))
      .then([cancelled()]));

  it('starts again on request after its end, and not before', () => {
    const requeued: WebhookDeliveryEvent = {
      type: 'DeliveryRequeued',
      data: { deliveryKey: 'k', webhookId: 'w1', userId: 'u1', keyId: 'key', attemptAt: at(99) },
    };
    const after = (...events: WebhookDeliveryEvent[]) =>
      given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, events);
    const again = (state: WebhookDeliveryState) => requeueDelivery(state, { now: at(99) });
    after().when(again).thenThrows('NotFound');
    after(scheduled).when(again).thenThrows('Conflict');
    after(scheduled, started(1)).when(again).thenThrows('Conflict');
    after(scheduled, started(1), failed(1, 10)).when(again).thenThrows('Conflict');
    const ended = [scheduled, started(1), failed(1), exhausted];
    after(...ended)
      .when(again)
      .then([requeued]);
    after(scheduled, cancelled()).when(again).then([requeued]);
    const second = after(...ended, requeued);
    second.when((state) => startAttempt(state, { deliveryId: 'd1' }, { now: at(98) })).then([]);
    second.when((state) => startAttempt(state, { deliveryId: 'd5' }, { now: at(99) })).then([started(1, 99, 'd5')]);
    second.when(again).thenThrows('Conflict');
  });

  it('does not change after its end', () => {
    const ends = [
      [scheduled, cancelled()],
      [
        scheduled,
        started(1),
        { type: 'DeliverySucceeded', data: { deliveryKey: 'k', deliveryId: 'd1', attempt: 1, status: 200 } },
      ],
      [scheduled, started(1), failed(1), exhausted],
    ] satisfies WebhookDeliveryEvent[][];
    for (const events of ends) {
      expect(hasEnded(stateAfter(webhookDelivery, events))).toBe(true);
      const ended = given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, events);
      ended.when((state) => startAttempt(state, { deliveryId: 'x' }, { now: at(999) })).then([]);
      ended.when((state) => endAttempt(state, { deliveryId: 'd1', status: 200 }, facts)).then([]);
      ended.when((state) => cancelDelivery(state, 'user-deleted')).then([]);
      ended.when((state) => scheduleDelivery(state, delivery)).then([]);
    }
    expect(hasEnded({ status: 'absent' })).toBe(false);
  });
});

describe('an outcome that is reported again', () => {
  it('changes nothing while the next attempt is awaited', () =>
    given<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled, started(1), failed(1, 10)])
      .when((state) => endAttempt(state, { deliveryId: 'd1', status: 200 }, facts))
      .then([]));
});

describe('the refusal to requeue a delivery', () => {
  it('says that it is still pending', () =>
    expect(() =>
      requeueDelivery(stateAfter<WebhookDeliveryState, WebhookDeliveryEvent>(webhookDelivery, [scheduled]), {
        now: at(0),
      }),
    ).toThrow('The delivery of this event to this webhook is still pending'));
});
