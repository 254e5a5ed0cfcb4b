import type { Aggregate } from '@attestry/event-store';
import type { WebhookSlotsEvent } from './webhook-slots.events.js';

export interface WebhookSlot {
  webhookId: string;
  claimedAt: string;
  url: string;
}

export interface WebhookSlotsState {
  held: WebhookSlot[];
}

/** One stream per tenant: its expected revision keeps concurrent creations and updates within the limits. */
export const webhookSlotsStream = (tenantId: string): string => `webhookSlots-${tenantId}`;

const evolve = ({ held }: WebhookSlotsState, event: WebhookSlotsEvent): WebhookSlotsState => {
  switch (event.type) {
    case 'WebhookSlotClaimed':
      return { held: [...held, event.data] };
    case 'WebhookSlotUrlChanged': {
      const { webhookId, url } = event.data;
      return { held: held.map((slot) => (slot.webhookId === webhookId ? { ...slot, url } : slot)) };
    }
    case 'WebhookSlotReleased':
      return { held: held.filter(({ webhookId }) => webhookId !== event.data.webhookId) };
  }
};

export const webhookSlots: Aggregate<WebhookSlotsState, WebhookSlotsEvent> = {
  category: 'webhookSlots',
  isAuxiliary: true,
  initial: { held: [] },
  types: { WebhookSlotClaimed: 2, WebhookSlotUrlChanged: 1, WebhookSlotReleased: 1 },
  lowestVersions: { WebhookSlotClaimed: 2 },
  evolve,
};
