import { createHash } from 'node:crypto';
import { KEYS_DESTROYED_SUBJECT } from '@attestry/contracts';
import type { KeysDestroyed, KeyVault } from '@attestry/keys';
import type { MessageBus } from '@attestry/messaging';
import type { Logger } from '../process/logger.js';

/** The same for each process that destroys these keys, so that the feed stores one message. */
const messageId = ({ tenantId, keyIds }: KeysDestroyed): string =>
  `keys.${createHash('sha256')
    .update(JSON.stringify([tenantId, keyIds?.toSorted()]))
    .digest('base64url')}`;

/**
 * Evicts keys that another process destroyed from this process's cache (ADR 0018). A lost message only delays it: a cached key expires.
 */
export const evictDestroyedKeys = (vault: KeyVault, bus: MessageBus, logger: Logger): { close(): Promise<void> } => {
  const listener = bus.listen({ name: 'keys.evictions', subjects: [KEYS_DESTROYED_SUBJECT] }, async (messages) => {
    for (const { data } of messages) {
      const { tenantId, keyIds } = data as KeysDestroyed;
      vault.evict(tenantId, keyIds);
    }
  });
  const stop = vault.onDestroyed((destroyed) => {
    bus
      .publish([{ id: messageId(destroyed), subject: KEYS_DESTROYED_SUBJECT, data: destroyed }])
      .catch((error: unknown) => logger.warn({ error: String(error) }, 'key eviction not published'));
  });
  return {
    async close() {
      stop();
      await listener.close();
    },
  };
};
