/**
 * Webhooks that count against the tenant's limits, and the URL of each, as claims (ADR 0009). `url` is null in slots of version 1: the
 * webhook itself has it.
 */
export type WebhookSlotsEvent =
  | { type: 'WebhookSlotClaimed'; data: { webhookId: string; claimedAt: string; url: string | null } }
  | { type: 'WebhookSlotUrlChanged'; data: { webhookId: string; url: string } }
  | { type: 'WebhookSlotReleased'; data: { webhookId: string } };
