import { hostFetch } from '../host-fetch.js';
import type { Cluster } from './cluster.js';
import type { ServiceProcess } from './service-process.js';

const HELD = /^attestry_lease_held\{lease="([^"]+)"[^}]*\} 1$/gm;

/** Names of the leases that a process reports as held, in its metrics; none when it does not respond within a second. */
export const heldLeases = async ({ port }: ServiceProcess): Promise<Set<string>> => {
  try {
    const answer = await hostFetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(1000) });
    return new Set([...(await answer.text()).matchAll(HELD)].map(([, lease]) => lease!));
  } catch {
    return new Set();
  }
};

/** The processes of a cluster that report that they hold a lease. */
export const holdersOf = async (cluster: Cluster, lease: string): Promise<ServiceProcess[]> => {
  const running = cluster.processes.filter(({ isRunning }) => isRunning);
  const held = await Promise.all(running.map(heldLeases));
  return running.filter((_, at) => held[at]!.has(lease));
};
