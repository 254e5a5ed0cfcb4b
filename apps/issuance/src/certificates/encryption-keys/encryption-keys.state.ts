import type { Aggregate } from '@attestry/event-store';
import type { EncryptionKey, EncryptionKeysEvent } from './encryption-keys.events.js';

/** Oldest first, without those that were destroyed. */
export type EncryptionKeysState = readonly EncryptionKey[];

export const encryptionKeysStream = (tenantId: string): string => `encryptionKeys-${tenantId}`;

const evolve = (state: EncryptionKeysState, { type, data }: EncryptionKeysEvent): EncryptionKeysState => {
  switch (type) {
    case 'EncryptionKeyCreated': {
      const { replacedKeyId: _, ...key } = data;
      return [...state, key];
    }
    case 'EncryptionKeyDestroyed':
      return state.filter(({ keyId }) => keyId !== data.keyId);
  }
};

export const encryptionKeys: Aggregate<EncryptionKeysState, EncryptionKeysEvent> = {
  category: 'encryptionKeys',
  isAuxiliary: true,
  initial: [],
  types: { EncryptionKeyCreated: 1, EncryptionKeyDestroyed: 1 },
  evolve,
};
