import { withoutKey, withSuccessor, type PublishedKey } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { WebhookKeysEvent } from './webhook-keys.events.js';

export type WebhookKeysState =
  | { status: 'absent' }
  /** Oldest first, never empty. */
  | { status: 'active'; keys: readonly PublishedKey[] }
  | { status: 'ended' };

export const webhookKeysStream = (tenantId: string): string => `webhookKeys-${tenantId}`;

const evolve = (state: WebhookKeysState, event: WebhookKeysEvent): WebhookKeysState => {
  switch (event.type) {
    case 'WebhookKeyCreated':
      return { status: 'active', keys: [{ keyId: event.data.keyId, signsFrom: event.data.createdAt }] };
    case 'WebhookKeyRotated': {
      if (state.status !== 'active') return state;
      return { status: 'active', keys: withSuccessor(state.keys, event.data) };
    }
    case 'WebhookKeyRetired':
      if (state.status !== 'active') return state;
      return { status: 'active', keys: withoutKey(state.keys, event.data.keyId) };
    case 'WebhookKeysEnded':
      return { status: 'ended' };
  }
};

export const webhookKeys: Aggregate<WebhookKeysState, WebhookKeysEvent> = {
  category: 'webhookKeys',
  initial: { status: 'absent' },
  types: { WebhookKeyCreated: 1, WebhookKeyRotated: 1, WebhookKeyRetired: 1, WebhookKeysEnded: 1 },
  evolve,
};
