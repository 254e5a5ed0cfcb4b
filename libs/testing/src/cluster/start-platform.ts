import { startPlatformProcess, type PlatformProcessOptions, type RunningPlatform } from '../platform-process.js';
import { Cluster } from './cluster.js';

/** `embedded`, or `cluster`: how end-to-end tests run the platform. */
export const platformMode = (): 'embedded' | 'cluster' =>
  process.env['ATTESTRY_MODE'] === 'cluster' ? 'cluster' : 'embedded';

/** Most time for the start of a platform on a busy machine: one process, or eight. */
export const PLATFORM_START_MS = 180_000;

/** Starts the built platform as ATTESTRY_MODE says: one process on its embedded engines, or many on real ones. */
export const startPlatform = async (
  options: Pick<PlatformProcessOptions, 'env' | 'startTimeoutMs'> = {},
): Promise<RunningPlatform> =>
  platformMode() === 'cluster'
    ? Cluster.start({ env: options.env ?? {} })
    : startPlatformProcess({ startTimeoutMs: PLATFORM_START_MS - 30_000, ...options });
