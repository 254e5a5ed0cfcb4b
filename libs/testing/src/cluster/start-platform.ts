import { startPlatformProcess, type PlatformProcessOptions, type RunningPlatform } from '../platform-process.js';
import { Cluster } from './cluster.js';

/** How the Jest project runs the platform: as one process on its embedded engines, or as many on real ones. */
export const platformMode = (): 'embedded' | 'cluster' =>
  (globalThis as { platformMode?: 'embedded' | 'cluster' }).platformMode ?? 'embedded';

/** Most time for the start of a platform on a busy machine: one process, or eight. */
export const PLATFORM_START_MS = 180_000;

/** Starts the built platform in the mode of the Jest project ({@link platformMode}). */
export const startPlatform = (
  options: Pick<PlatformProcessOptions, 'env' | 'startTimeoutMs' | 'preload'> = {},
): Promise<RunningPlatform> =>
  platformMode() === 'cluster'
    ? Cluster.start({ env: options.env ?? {} })
    : startPlatformProcess({ startTimeoutMs: PLATFORM_START_MS - 30_000, ...options });

/** A platform that is used by its addresses alone. */
export type PlatformAddresses = Pick<RunningPlatform, 'ready' | 'tenantUrl' | 'managementClient'>;

/**
 * The platform that the Jest project starts, with default settings, at the first call and ends after its last spec. Specs
 * use it at the same time: one that restarts it, changes its settings or lists all tenants starts its own.
 */
export const sharedPlatform = async (): Promise<PlatformAddresses> => {
  const response = await fetch(process.env[`ATTESTRY_SHARED_PLATFORM_${platformMode().toUpperCase()}`]!);
  if (!response.ok) throw new Error(await response.text());
  const { ready, managementClient } = (await response.json()) as Pick<RunningPlatform, 'ready'> & {
    managementClient: ReturnType<RunningPlatform['managementClient']>;
  };
  return {
    ready,
    tenantUrl: (subdomain) => ready.management.replace('//management.', `//${subdomain}.`),
    managementClient: () => managementClient,
  };
};
