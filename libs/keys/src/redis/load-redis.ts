import type { ReplayGuard } from '../key-vault.js';
import type { RedisReplayGuardOptions } from './redis-replay-guard.js';

/** A replay guard on Redis or Valkey. Loaded on demand: the embedded platform does not load the client. */
export const openRedisReplayGuard = async (options: RedisReplayGuardOptions): Promise<ReplayGuard> => {
  const { RedisReplayGuard } = await import('./redis-replay-guard.js');
  return RedisReplayGuard.connect(options);
};
