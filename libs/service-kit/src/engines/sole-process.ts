import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Lease, Leases } from '@attestry/event-store';

/** Another process without a bus that both share works on the same database. */
export class AlreadyRunning extends Error {
  override readonly name = 'AlreadyRunning';
}

/** Held by a process that must be alone on its database. */
export const PLATFORM_LEASE = 'platform.sole-process';
const LEASE_MS = 6000;

/**
 * A process whose bus is its own must be alone on its database: two would each publish into a feed that the other does
 * not read. What a data folder's lock is for files, this is for a database.
 */
export class SoleProcess {
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly leases: Leases,
    private lease: Lease,
    private readonly onLost: (error: Error) => void,
  ) {
    this.timer = setInterval(() => void this.renew(), LEASE_MS / 3).unref();
  }

  /** Waits for the lease of a process that died. @throws AlreadyRunning */
  static async claim(leases: Leases, onLost: (error: Error) => void, waitMs = LEASE_MS + 2000): Promise<SoleProcess> {
    const holder = randomUUID();
    for (const end = Date.now() + waitMs; ; await pause(250)) {
      const lease = await leases.acquire(PLATFORM_LEASE, holder, LEASE_MS);
      if (lease) return new SoleProcess(leases, lease, onLost);
      if (Date.now() > end)
        throw new AlreadyRunning('another process uses this database; set NATS_URL to run several processes');
    }
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.leases.release(this.lease);
  }

  private async renew(): Promise<void> {
    try {
      const renewed = await this.leases.renew(this.lease, LEASE_MS);
      if (renewed) this.lease = renewed;
      else if (!(await this.regained())) this.onLost(new AlreadyRunning('another process took over this database'));
    } catch {
      // The database is away, for everybody; the next turn tells.
      return;
    }
  }

  /** After an outage longer than the lease, when nobody else has come. */
  private async regained(): Promise<boolean> {
    const lease = await this.leases.acquire(PLATFORM_LEASE, this.lease.holder, LEASE_MS);
    if (lease) this.lease = lease;
    return lease !== undefined;
  }
}
