import { withoutKey, withSuccessor, type PublishedKey } from '@attestry/contracts';
import type { Aggregate } from '@attestry/event-store';
import type { TokenKeysEvent } from './token-keys.events.js';

export type TokenKeysState =
  | { status: 'absent' }
  /** Oldest first, never empty. */
  | { status: 'active'; keys: readonly PublishedKey[] };

/** One for the platform. */
export const TOKEN_KEYS_STREAM = 'tokenKeys-platform';

const evolve = (state: TokenKeysState, event: TokenKeysEvent): TokenKeysState => {
  switch (event.type) {
    case 'TokenKeyCreated':
      return { status: 'active', keys: [{ keyId: event.data.keyId, signsFrom: event.data.createdAt }] };
    case 'TokenKeyRotated':
      return state.status === 'active' ? { status: 'active', keys: withSuccessor(state.keys, event.data) } : state;
    case 'TokenKeyRetired':
      return state.status === 'active' ? { status: 'active', keys: withoutKey(state.keys, event.data.keyId) } : state;
  }
};

export const tokenKeys: Aggregate<TokenKeysState, TokenKeysEvent> = {
  category: 'tokenKeys',
  initial: { status: 'absent' },
  types: { TokenKeyCreated: 1, TokenKeyRotated: 1, TokenKeyRetired: 1 },
  evolve,
};
