import { withoutKey, withSuccessor, type PublishedKey } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { ClientKeysEvent } from './client-keys.events.js';

/** Oldest first; empty before the first key. */
export interface ClientKeysState {
  keys: readonly PublishedKey[];
}

export const clientKeysStream = (tenantId: string): string => `clientKeys-${tenantId}`;

const evolve = ({ keys }: ClientKeysState, event: ClientKeysEvent): ClientKeysState => {
  switch (event.type) {
    case 'ClientKeyCreated':
      return { keys: [{ keyId: event.data.keyId, signsFrom: event.data.createdAt }] };
    case 'ClientKeyRotated':
      return { keys: withSuccessor(keys, event.data) };
    case 'ClientKeyRetired':
      return { keys: withoutKey(keys, event.data.keyId) };
  }
};

export const clientKeys: Aggregate<ClientKeysState, ClientKeysEvent> = {
  category: 'clientKeys',
  initial: { keys: [] },
  types: { ClientKeyCreated: 1, ClientKeyRotated: 1, ClientKeyRetired: 1 },
  evolve,
};
