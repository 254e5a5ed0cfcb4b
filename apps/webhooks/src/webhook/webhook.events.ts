import type { WebhookEvent } from '@attestry/contracts';

/**
 * A subscription of a tenant. Each event that changes the subscription has the subscribed event types, so that the
 * integration event derives from it alone.
 */
export type WebhookDomainEvent =
  | {
      type: 'WebhookCreated';
      data: {
        /** uuid */
        webhookId: string;
        /** ASCII form. */
        url: string;
        events: WebhookEvent[];
        disabled: boolean;
        /** RFC 3339, UTC, milliseconds. */
        createdAt: string;
      };
    }
  | { type: 'WebhookUrlChanged'; data: { webhookId: string; url: string } }
  | { type: 'WebhookEventsChanged'; data: { webhookId: string; events: WebhookEvent[]; disabled: boolean } }
  | { type: 'WebhookDisabled'; data: { webhookId: string; events: WebhookEvent[] } }
  | { type: 'WebhookEnabled'; data: { webhookId: string; events: WebhookEvent[] } }
  | { type: 'WebhookDeleted'; data: { webhookId: string } };
