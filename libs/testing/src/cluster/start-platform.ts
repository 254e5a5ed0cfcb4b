import { startPlatformProcess, type PlatformProcessOptions, type RunningPlatform } from '../platform-process.js';
import { Cluster } from './cluster.js';

/** `embedded`, or `cluster`: how end-to-end tests run the platform. */
export const platformMode = (): 'embedded' | 'cluster' =>
  process.env['ATTESTRY_MODE'] === 'cluster' ? 'cluster' : 'embedded';

/** Most time for the start of a platform on a busy machine: one process, or eight. */
export const PLATFORM_START_MS = 180_000;

/** Platforms by their settings, and how many use them; see {@link sharePlatforms}. */
const shared = new Map<string, { platform: Promise<RunningPlatform>; users: number }>();
let isSharing = false;

/**
 * From now on those of this Jest file who want a platform with the same settings get the same one. The last to stop it ends
 * it. They run one after the other: each may end its processes and start them again, with the same settings.
 */
export const sharePlatforms = (): void => {
  isSharing = true;
};

type Options = Pick<PlatformProcessOptions, 'env' | 'startTimeoutMs' | 'preload'>;

const sharedPlatform = async (options: Options): Promise<RunningPlatform> => {
  const key = JSON.stringify(options.env ?? {});
  const entry = shared.get(key) ?? { platform: ownPlatform(options), users: 0 };
  shared.set(key, entry);
  entry.users += 1;
  const platform = await entry.platform;
  return Object.assign(Object.create(platform) as RunningPlatform, {
    restart: (env?: Record<string, string>) =>
      env
        ? Promise.reject(new Error('a platform that others use too: whoever wants other settings starts one'))
        : platform.restart(),
    end: (signal?: NodeJS.Signals) => platform.end(signal),
    kill: () => platform.kill(),
    stop: async () => {
      if (--entry.users === 0) await platform.stop();
    },
  });
};

const ownPlatform = (options: Options): Promise<RunningPlatform> =>
  platformMode() === 'cluster'
    ? Cluster.start({ env: options.env ?? {} })
    : startPlatformProcess({ startTimeoutMs: PLATFORM_START_MS - 30_000, ...options });

/** Starts the built platform as ATTESTRY_MODE says: one process on its embedded engines, or many on real ones. */
export const startPlatform = (options: Options = {}): Promise<RunningPlatform> =>
  isSharing ? sharedPlatform(options) : ownPlatform(options);
