/** Which webhooks count against the tenant's limit (decision 8). */
export type WebhookSlotsEvent =
  | { type: 'WebhookSlotClaimed'; data: { webhookId: string; claimedAt: string } }
  | { type: 'WebhookSlotReleased'; data: { webhookId: string } };
