import type { WebhookEvent } from '@attestry/contracts';

/**
 * A subscription of a tenant. What changes who is told of what also says which events are subscribed to, so that the
 * integration event follows from it alone.
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
