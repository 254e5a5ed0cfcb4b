import type { ReplayGuard } from '../vault/key-vault.js';
import type { RedisReplayGuardOptions } from './redis-replay-guard.js';

/** {@link inspectRedis}, loaded on demand. */
export const inspectRedisServer = async (url: string, isProbed = false): Promise<void> => {
  const { inspectRedis } = await import('./redis-replay-guard.js');
  return inspectRedis(url, isProbed);
};

/** A replay guard on Redis or Valkey. Loaded on demand: the embedded platform does not load the client. */
export const openRedisReplayGuard = async (options: RedisReplayGuardOptions): Promise<ReplayGuard> => {
  const { RedisReplayGuard } = await import('./redis-replay-guard.js');
  return RedisReplayGuard.connect(options);
};
