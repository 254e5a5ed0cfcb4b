import { Canonicalization, sharedContexts } from '@attestry/linked-data';
import type { PlatformConfig } from '../config/config.js';
import type { Metrics } from '../metrics/metrics.js';

/** The process's pool for JSON-LD canonicalization, with its metrics. */
export const observedCanonicalization = (config: PlatformConfig, metrics: Metrics): Canonicalization => {
  const pool = new Canonicalization({ shared: sharedContexts(config.contextUrl) });
  const jobs = metrics.gauge('canonicalizationJobs');
  metrics.onScrape(() => {
    jobs.set({ state: 'waiting' }, pool.waitingJobs);
    jobs.set({ state: 'running' }, pool.runningJobs);
  });
  pool.onTerminated = () => metrics.counter('canonicalizationTerminated').inc();
  return pool;
};
