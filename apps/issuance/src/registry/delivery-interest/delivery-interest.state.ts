import type { Aggregate } from '@attestry/event-store';
import type { DeliveryInterestEvent } from './delivery-interest.events.js';

/** Ids of the enabled webhooks that subscribe to `OpenIdCredentialIssued`. */
export interface DeliveryInterestState {
  webhookIds: readonly string[];
}

export const deliveryInterestStream = (tenantId: string): string => `deliveryInterest-${tenantId}`;

const evolve = ({ webhookIds }: DeliveryInterestState, event: DeliveryInterestEvent): DeliveryInterestState => {
  const others = webhookIds.filter((id) => id !== event.data.webhookId);
  switch (event.type) {
    case 'CredentialDeliveryRequested':
      return { webhookIds: [...others, event.data.webhookId] };
    case 'CredentialDeliveryEnded':
      return { webhookIds: others };
  }
};

export const deliveryInterest: Aggregate<DeliveryInterestState, DeliveryInterestEvent> = {
  category: 'deliveryInterest',
  initial: { webhookIds: [] },
  types: { CredentialDeliveryRequested: 1, CredentialDeliveryEnded: 1 },
  evolve,
};
