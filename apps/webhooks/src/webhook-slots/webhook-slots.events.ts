/** Webhooks that count against the tenant's limits, and the URL of each, as claims (ADR 0009). */
export type WebhookSlotsEvent =
  | { type: 'WebhookSlotClaimed'; data: { webhookId: string; claimedAt: string; url: string } }
  | { type: 'WebhookSlotUrlChanged'; data: { webhookId: string; url: string } }
  | { type: 'WebhookSlotReleased'; data: { webhookId: string } };
