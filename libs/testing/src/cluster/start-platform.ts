import { startPlatformProcess, type PlatformProcessOptions, type RunningPlatform } from '../platform-process.js';
import { Cluster } from './cluster.js';

/** `embedded`, or `cluster`: how end-to-end tests run the platform. */
export const platformMode = (): 'embedded' | 'cluster' =>
  process.env['ATTESTRY_MODE'] === 'cluster' ? 'cluster' : 'embedded';

/** Most time for the start of a platform on a busy machine: one process, or eight. */
export const PLATFORM_START_MS = 180_000;

/** Clusters by their settings, and how many use them; see {@link shareClusters}. */
const shared = new Map<string, { cluster: Promise<Cluster>; users: number }>();
let isSharing = false;

/** From now on those of this Jest file who want a cluster with the same settings get the same one. The last to stop it ends it. */
export const shareClusters = (): void => {
  isSharing = true;
};

const sharedCluster = async (env: Record<string, string>): Promise<RunningPlatform> => {
  const key = JSON.stringify(env);
  const entry = shared.get(key) ?? { cluster: Cluster.start({ env }), users: 0 };
  shared.set(key, entry);
  entry.users += 1;
  const cluster = await entry.cluster;
  const notOurs = () => Promise.reject(new Error('a cluster that others use too: whoever stops processes starts one'));
  return Object.assign(Object.create(cluster) as Cluster, {
    restart: notOurs,
    end: notOurs,
    kill: notOurs,
    stop: async () => {
      if (--entry.users === 0) await cluster.stop();
    },
  });
};

/** Starts the built platform as ATTESTRY_MODE says: one process on its embedded engines, or many on real ones. */
export const startPlatform = async (
  options: Pick<PlatformProcessOptions, 'env' | 'startTimeoutMs'> = {},
): Promise<RunningPlatform> =>
  platformMode() === 'cluster'
    ? isSharing
      ? sharedCluster(options.env ?? {})
      : Cluster.start({ env: options.env ?? {} })
    : startPlatformProcess({ startTimeoutMs: PLATFORM_START_MS - 30_000, ...options });
