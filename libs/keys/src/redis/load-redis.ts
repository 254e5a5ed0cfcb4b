import type { ReplayGuard } from '../key-vault.js';
import type { RedisReplayGuardOptions } from './redis-replay-guard.js';

/** A replay guard on Redis or Valkey. The client is loaded here, so that the embedded platform does not wait for it. */
export const openRedisReplayGuard = async (options: RedisReplayGuardOptions): Promise<ReplayGuard> => {
  const { RedisReplayGuard } = await import('./redis-replay-guard.js');
  return RedisReplayGuard.open(options);
};
