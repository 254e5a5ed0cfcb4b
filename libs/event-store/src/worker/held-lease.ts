import type { Lease, Leases } from '../event-store.js';
import { untilTick } from './until-tick.js';

export const DEFAULT_LEASE_MS = 6000;
/** Part of a lease after which it is renewed. */
export const RENEWAL_PART = 0.4;

export interface LeaseOptions {
  leases: Leases;
  /** Unique per holder. */
  holder: string;
  /** How long the lease outlives its holder, milliseconds. Default 6,000; renewed every 2,400 of them. */
  leaseMs?: number;
  /**
   * How often a worker polls for a lease that another process holds, milliseconds. Default a sixth of it; where its release is reported, as often
   * as leases are renewed.
   */
  pollMs?: number;
}

/**
 * A lease that is renewed until it is released or lost. A failed renewal is retried until the lease has expired. The expiry is counted on
 * this process's monotonic clock, from before the request to the engine: it is never later than the engine's, and the clock continues while
 * the process is paused.
 */
export class HeldLease {
  private readonly ended = new AbortController();
  private readonly leaseMs: number;
  private until = 0;
  private renewal: NodeJS.Timeout | undefined;
  private expiry: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;

  private constructor(
    private readonly leases: Leases,
    private held: Lease,
    leaseMs: number,
    requestedAt: number,
  ) {
    this.leaseMs = leaseMs;
    this.extend(held, requestedAt);
  }

  /** `undefined` while another process holds it. */
  static async acquire(
    name: string,
    { leases, holder, leaseMs = DEFAULT_LEASE_MS }: LeaseOptions,
  ): Promise<HeldLease | undefined> {
    const requestedAt = performance.now();
    const lease = await leases.acquire(name, holder, leaseMs);
    return lease && new HeldLease(leases, lease, leaseMs, requestedAt);
  }

  get lease(): Lease {
    return this.held;
  }

  /** False from the moment from which another process may hold it. */
  get isHeld(): boolean {
    return !this.ended.signal.aborted && performance.now() < this.until;
  }

  /** Aborted when it is lost or released. */
  get signal(): AbortSignal {
    return this.ended.signal;
  }

  /** Releases it, so that the next holder need not wait. */
  async release(): Promise<void> {
    this.end();
    await this.renewing;
    await this.leases.release(this.held);
  }

  private end(): void {
    clearTimeout(this.renewal);
    clearTimeout(this.expiry);
    this.ended.abort();
  }

  private extend(lease: Lease, requestedAt: number): void {
    this.held = lease;
    this.until = requestedAt + this.leaseMs;
    clearTimeout(this.expiry);
    this.expiry = setTimeout(() => this.end(), this.until - performance.now()).unref();
    this.renewAfter(untilTick(this.leaseMs * RENEWAL_PART));
  }

  private renewAfter(ms: number): void {
    this.renewal = setTimeout(() => (this.renewing = this.renew()), ms).unref();
  }

  private async renew(): Promise<void> {
    const requestedAt = performance.now();
    try {
      const renewed = await this.leases.renew(this.held, this.leaseMs);
      if (this.ended.signal.aborted) return;
      if (renewed) this.extend(renewed, requestedAt);
      else this.end();
    } catch {
      // The engine is unreachable for every process: the lease may survive that.
      if (!this.ended.signal.aborted) this.renewAfter(this.leaseMs / 12);
    }
  }
}
