import type { Aggregate } from '@attestry/event-store';
import type { WebhookKeysEvent } from './webhook-keys.events.js';

/** RFC 3339, UTC, milliseconds. */
export interface PublishedKey {
  keyId: string;
  signsFrom: string;
  /** Absent for the newest. */
  publishedUntil?: string;
}

export type WebhookKeysState =
  | { status: 'absent' }
  /** Oldest first, never empty. */
  | { status: 'living'; keys: readonly PublishedKey[] }
  | { status: 'ended' };

export const webhookKeysStream = (tenantId: string): string => `webhookKeys-${tenantId}`;

const evolve = (state: WebhookKeysState, event: WebhookKeysEvent): WebhookKeysState => {
  switch (event.type) {
    case 'WebhookKeyChosen':
      return { status: 'living', keys: [{ keyId: event.data.keyId, signsFrom: event.data.chosenAt }] };
    case 'WebhookKeyRotated': {
      if (state.status !== 'living') return state;
      const { keyId, previousKeyId, signsFrom, overlapEndsAt } = event.data;
      const before = state.keys.map((key) =>
        key.keyId === previousKeyId ? { ...key, publishedUntil: overlapEndsAt } : key,
      );
      return { status: 'living', keys: [...before, { keyId, signsFrom }] };
    }
    case 'WebhookKeyRetired':
      if (state.status !== 'living') return state;
      return { status: 'living', keys: state.keys.filter(({ keyId }) => keyId !== event.data.keyId) };
    case 'WebhookKeysEnded':
      return { status: 'ended' };
  }
};

export const webhookKeys: Aggregate<WebhookKeysState, WebhookKeysEvent> = {
  category: 'webhookKeys',
  initial: { status: 'absent' },
  types: { WebhookKeyChosen: 1, WebhookKeyRotated: 1, WebhookKeyRetired: 1, WebhookKeysEnded: 1 },
  evolve,
};
