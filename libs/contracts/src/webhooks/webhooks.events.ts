import { defineIntegrationEvent } from '../integration-event.js';
import type { WebhookEvent } from './webhooks.operations.js';

/** The subscription as it now stands; issuance learns from it for which tenants a credential must be kept for delivery. */
export const webhookSaved = defineIntegrationEvent<{
  tenantId: string;
  webhookId: string;
  events: WebhookEvent[];
  disabled: boolean;
}>('webhooks.webhook-saved');
export const webhookDeleted = defineIntegrationEvent<{ tenantId: string; webhookId: string }>(
  'webhooks.webhook-deleted',
);
