import type { Aggregate } from '@attestry/event-store';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';

export interface WebhookSlotsState {
  held: { webhookId: string; claimedAt: string }[];
}

/** One stream a tenant: its expected revision is what keeps concurrent creations within the limit. */
export const webhookSlotsStream = (tenantId: string): string => `webhookSlots-${tenantId}`;

const evolve = ({ held }: WebhookSlotsState, event: WebhookSlotsEvent): WebhookSlotsState => {
  switch (event.type) {
    case 'WebhookSlotClaimed':
      return { held: [...held, event.data] };
    case 'WebhookSlotReleased':
      return { held: held.filter(({ webhookId }) => webhookId !== event.data.webhookId) };
  }
};

export const webhookSlots: Aggregate<WebhookSlotsState, WebhookSlotsEvent> = {
  category: 'webhookSlots',
  initial: { held: [] },
  types: { WebhookSlotClaimed: 1, WebhookSlotReleased: 1 },
  evolve,
};
