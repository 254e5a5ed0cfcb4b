import { projected, type GivenEvent } from '@attestry/testing';
import type { WebhookDeliveryEvent } from '../webhook-delivery/webhook-delivery.events.js';
import { webhooksProjection, type WebhookTables } from './webhooks.projection.js';

const given = projected(webhooksProjection);
const at = (minute: number) => `2026-03-01T00:0${minute}:00.000Z`;
const created = {
  type: 'WebhookCreated',
  data: { webhookId: 'w', url: 'https://a.example:8443/hook', events: ['OpenIdCredentialIssued'], createdAt: at(0) },
} as const;
const webhook: WebhookTables['webhook'] = {
  tenant_id: 't1',
  id: 'w',
  url: created.data.url,
  host: 'a.example:8443',
  events: '["OpenIdCredentialIssued"]',
  disabled: 0,
  revision: 0,
  created_at: at(0),
};
const delivery: WebhookTables['delivery'] = {
  tenant_id: 't1',
  delivery_key: 'd',
  webhook_id: 'w',
  user_id: 'u',
  key_id: 'k',
  request_id: 'r7',
  due_at: at(1),
  cancel: null,
};
const scheduled = (webhookId = 'w', deliveryKey = 'd') =>
  ({
    type: 'DeliveryScheduled',
    data: {
      deliveryKey,
      webhookId,
      payload: { userId: 'u' },
      sealedCredential: { keyId: 'k' },
      attemptAt: at(1),
    },
    of: { requestId: 'r7' },
  }) as GivenEvent<WebhookDeliveryEvent>;
const failed = (nextAttemptAt?: string) =>
  ({ type: 'DeliveryAttemptFailed', data: { deliveryKey: 'd', nextAttemptAt } }) as const;

describe('the list of webhooks', () => {
  it('has each as its last change left it, with its revision', () => {
    given(created).expectRows({
      webhook: [webhook],
    });
    const disabled = { ...created, data: { ...created.data, disabled: true } };
    given(
      disabled,
      { type: 'WebhookUrlChanged', data: { webhookId: 'w', url: 'https://b.example/' } },
      { type: 'WebhookEventsChanged', data: { webhookId: 'w', events: [] } },
      { type: 'WebhookEnabled', data: { webhookId: 'w' } },
    ).expectRows({
      webhook: [{ ...webhook, url: 'https://b.example/', host: 'b.example', events: '[]', revision: 3 }],
    });
    given(disabled, { type: 'WebhookDeleted', data: { webhookId: 'w' } }).expectRows({});
  });
});

describe('the queue of deliveries', () => {
  it('has those that are pending, when they are due next', () => {
    given(scheduled()).expectRows({ delivery: [delivery] });
    given(scheduled(), { type: 'DeliveryAttemptStarted', data: {} }, failed(at(2))).expectRows({
      delivery: [{ ...delivery, due_at: at(2) }],
    });
    given(scheduled(), failed()).expectRows({ delivery: [delivery] });
    for (const type of ['DeliverySucceeded', 'DeliveryExhausted', 'DeliveryCancelled'] as const)
      given(scheduled(), { type, data: { deliveryKey: 'd' } }).expectRows({});
  });

  it('has one that was sent again by a caller', () => {
    const data = { deliveryKey: 'd', webhookId: 'w', attemptAt: at(3) };
    given(scheduled(), { type: 'DeliveryRequeued', data, of: { requestId: 'r8' } }).expectRows({
      delivery: [{ ...delivery, user_id: '', key_id: null, request_id: 'r8', due_at: at(3) }],
    });
  });

  it('has those of a disabled or deleted webhook at once, to be cancelled; a later failure changes nothing', () => {
    for (const [type, cancel] of [
      ['WebhookDisabled', 'webhook-disabled'],
      ['WebhookDeleted', 'webhook-deleted'],
    ] as const)
      given(scheduled(), scheduled('other', 'd2'), { type, data: { webhookId: 'w' } }, failed(at(5))).expectRows({
        delivery: [
          { ...delivery, due_at: '', cancel },
          { ...delivery, delivery_key: 'd2', webhook_id: 'other' },
        ],
      });
  });
});
