import { given } from '@attestry/event-store';
import { recordSubscription } from './delivery-interest.decisions.js';
import type { DeliveryInterestEvent } from './delivery-interest.events.js';
import { deliveryInterest, type DeliveryInterestState } from './delivery-interest.state.js';

const requested: DeliveryInterestEvent = { type: 'CredentialDeliveryRequested', data: { webhookId: 'w1' } };
const ended: DeliveryInterestEvent = { type: 'CredentialDeliveryEnded', data: { webhookId: 'w1' } };

const after = (events: DeliveryInterestEvent[]) =>
  given<DeliveryInterestState, DeliveryInterestEvent>(deliveryInterest, events);

describe('delivery interest', () => {
  it('starts with the first webhook that subscribes to credentials', () =>
    after([])
      .when((state) => recordSubscription(state, { webhookId: 'w1', wanted: true }))
      .then([requested]));

  it('appends nothing twice', () => {
    after([requested])
      .when((state) => recordSubscription(state, { webhookId: 'w1', wanted: true }))
      .then([]);
    after([])
      .when((state) => recordSubscription(state, { webhookId: 'w1', wanted: false }))
      .then([]);
  });

  it('ends with the last one', () => {
    after([requested, { type: 'CredentialDeliveryRequested', data: { webhookId: 'w2' } }])
      .when((state) => recordSubscription(state, { webhookId: 'w1', wanted: false }))
      .thenState({ webhookIds: ['w2'] });
    after([requested, ended]).thenState({ webhookIds: [] });
  });
});
