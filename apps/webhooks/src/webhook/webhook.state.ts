import type { WebhookEvent } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { WebhookDomainEvent } from './webhook.events.js';

export interface ActiveWebhook {
  status: 'active';
  webhookId: string;
  url: string;
  events: WebhookEvent[];
  disabled: boolean;
  createdAt: string;
}
export type WebhookState = { status: 'absent' } | ActiveWebhook | { status: 'deleted' };

export const webhookStream = (tenantId: string, webhookId: string): string => `webhook-${tenantId}+${webhookId}`;

/** Target of a URL: name, and port if it is not the usual one. */
export const hostOf = (url: string): string => new URL(url).host;

const change = (state: WebhookState, changed: Partial<ActiveWebhook>): WebhookState =>
  state.status === 'active' ? { ...state, ...changed } : state;

const evolve = (state: WebhookState, event: WebhookDomainEvent): WebhookState => {
  switch (event.type) {
    case 'WebhookCreated':
      return { status: 'active', ...event.data };
    case 'WebhookUrlChanged':
      return change(state, { url: event.data.url });
    case 'WebhookEventsChanged':
      return change(state, { events: event.data.events });
    case 'WebhookDisabled':
      return change(state, { disabled: true });
    case 'WebhookEnabled':
      return change(state, { disabled: false });
    case 'WebhookDeleted':
      return { status: 'deleted' };
  }
};

export const webhook: Aggregate<WebhookState, WebhookDomainEvent> = {
  category: 'webhook',
  initial: { status: 'absent' },
  types: {
    WebhookCreated: 1,
    WebhookUrlChanged: 1,
    WebhookEventsChanged: 1,
    WebhookDisabled: 1,
    WebhookEnabled: 1,
    WebhookDeleted: 1,
  },
  evolve,
};
