import { Leases, type Lease, type ReleaseWatch } from '@attestry/event-store';
import type { LeaseStates } from '../metrics/lease-states.js';

/** Any leases; what this process holds shows in the metrics. */
export class ObservedLeases extends Leases {
  constructor(
    private readonly inner: Leases,
    private readonly held: LeaseStates,
  ) {
    super();
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const lease = await this.inner.acquire(name, holder, ttlMs);
    if (lease) this.held.recordGrant(name, ttlMs);
    else this.held.recordRefusal(name);
    return lease;
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const renewed = await this.inner.renew(lease, ttlMs);
    if (renewed) this.held.recordGrant(lease.name, ttlMs);
    else this.held.recordRefusal(lease.name);
    return renewed;
  }

  async release(lease: Lease): Promise<void> {
    this.held.recordRelease(lease.name);
    await this.inner.release(lease);
  }

  isHeld(lease: Lease): Promise<boolean> {
    return this.inner.isHeld(lease);
  }

  override watchReleases(name: string, onReleased: () => void): ReleaseWatch {
    return this.inner.watchReleases(name, onReleased);
  }
}
