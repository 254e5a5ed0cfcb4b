import type { DeliveryInterestEvent } from './delivery-interest.events.js';
import type { DeliveryInterestState } from './delivery-interest.state.js';

/** Idempotent: the feed delivers at least once. */
export const recordSubscription = (
  state: DeliveryInterestState,
  { webhookId, wanted }: { webhookId: string; wanted: boolean },
): DeliveryInterestEvent[] => {
  if (state.webhookIds.includes(webhookId) === wanted) return [];
  return [{ type: wanted ? 'CredentialDeliveryRequested' : 'CredentialDeliveryEnded', data: { webhookId } }];
};
