import { Leases, type Lease } from '@attestry/event-store';
import type { HeldLeases } from '../metrics/held-leases.js';

/** Any leases; what this process holds shows in the metrics. */
export class ObservedLeases extends Leases {
  constructor(
    private readonly inner: Leases,
    private readonly held: HeldLeases,
  ) {
    super();
  }

  async acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined> {
    const lease = await this.inner.acquire(name, holder, ttlMs);
    if (lease) this.held.granted(name, ttlMs);
    else this.held.refused(name);
    return lease;
  }

  async renew(lease: Lease, ttlMs: number): Promise<Lease | undefined> {
    const renewed = await this.inner.renew(lease, ttlMs);
    if (renewed) this.held.granted(lease.name, ttlMs);
    else this.held.refused(lease.name);
    return renewed;
  }

  async release(lease: Lease): Promise<void> {
    this.held.givenBack(lease.name);
    await this.inner.release(lease);
  }

  isHeld(lease: Lease): Promise<boolean> {
    return this.inner.isHeld(lease);
  }
}
