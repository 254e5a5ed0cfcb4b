import { expectStatus } from './api-client.js';
import { platformMode } from './cluster/start-platform.js';
import type { TenantApi } from './tenant-api.js';
import { waitUntil } from './wait-until.js';

/** Longer than a process keeps a record for its batch (ADR 0072). */
const BATCH_MS = 400;

/**
 * Resolves when the records of earlier calls are listed. In one process a list has them; in a cluster those of other processes come in
 * batches, so that this waits until the trail rests.
 */
export const settledRecords = async (api: Pick<TenantApi, 'analytics'>): Promise<void> => {
  if (platformMode() === 'embedded') return;
  let before: string | undefined;
  await waitUntil(
    async () => {
      const newest = JSON.stringify(expectStatus(await api.analytics.list({ limit: 100 }), 200).data);
      const isUnchanged = newest === before;
      before = newest;
      return isUnchanged;
    },
    { intervalMs: BATCH_MS, what: 'the records of all processes' },
  );
};
