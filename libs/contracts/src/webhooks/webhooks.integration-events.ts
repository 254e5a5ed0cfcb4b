import { defineIntegrationEvent } from '../integration-event.js';
import type { WebhookEvent } from './webhooks.operations.js';

/** The current subscription. Issuance derives from it the tenants whose credentials must be kept for delivery. */
export const webhookSaved = defineIntegrationEvent<{
  tenantId: string;
  webhookId: string;
  events: WebhookEvent[];
  disabled: boolean;
}>('webhooks.webhook-saved');
export const webhookDeleted = defineIntegrationEvent<{ tenantId: string; webhookId: string }>(
  'webhooks.webhook-deleted',
);
