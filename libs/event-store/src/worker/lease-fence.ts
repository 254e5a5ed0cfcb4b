import type { Lease, Leases } from '../event-store.js';
import { StaleEpoch } from './leased-worker.js';

/** Rejects when a write must not be made. */
export type Fence = () => Promise<void>;

/**
 * Refuses writes once the store that granted a lease has a newer epoch, or none. Epochs are comparable in that store alone: they are not stored
 * with what is written, which may be copied, and leases may be lost (ADR 0061).
 * @returns a fence that rejects with StaleEpoch
 */
export const leaseFence =
  (leases: Leases, lease: Lease): Fence =>
  async () => {
    if (!(await leases.isHeld(lease)))
      throw new StaleEpoch(`the lease ${lease.name} of epoch ${lease.epoch} is no longer held`);
  };
