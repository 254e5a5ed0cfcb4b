import { heldLeases, waitUntil, type ServiceProcess } from '@attestry/testing';
import { TAKE_OVER_MS, type Stage } from './stage.js';

/** Leases by which the holder of most leases of a service is found. */
export const KEY_LEASES = ['issuance.publisher', 'webhooks.sender', 'analytics.operations'] as const;

export interface Holder {
  process: ServiceProcess;
  /** Everything it holds. */
  leases: string[];
}

/** One process for each of {@link KEY_LEASES}, with all that it holds. */
export const holders = async (stage: Stage): Promise<Holder[]> => {
  const found = await Promise.all(
    KEY_LEASES.map((lease) =>
      waitUntil(
        async () => {
          for (const process of stage.cluster.processes) {
            const leases = await heldLeases(process);
            if (leases.has(lease)) return { process, leases: [...leases] };
          }
          return undefined;
        },
        { what: `a holder of ${lease}` },
      ),
    ),
  );
  return found;
};

/**
 * Waits until others hold all that these held.
 * @param since when the holders could do nothing any more, `performance.now()`
 * @returns after how many milliseconds the last lease was taken over
 */
export const takenOver = async (stage: Stage, gone: readonly Holder[], since: number): Promise<number> => {
  const names = new Set(gone.map(({ process }) => process.name));
  const left = new Set(gone.flatMap(({ leases }) => leases));
  await waitUntil(
    async () => {
      const others = stage.cluster.processes.filter(({ name, isRunning }) => isRunning && !names.has(name));
      for (const held of await Promise.all(others.map(heldLeases))) for (const lease of held) left.delete(lease);
      if (left.size) throw new Error(`nobody holds ${[...left].join()}`);
      return true;
    },
    { timeoutMs: TAKE_OVER_MS - (performance.now() - since), intervalMs: 100, what: 'the leases to be taken over' },
  );
  return Math.round(performance.now() - since);
};
