import type { Instruments } from './instruments.js';

/** State of a lease that this process requested. */
type Known =
  /** Held until then: milliseconds of `performance.now()`. */
  | { state: 'held'; until: number }
  /** Released by this process, for example to wait after a failure; it will be requested again. */
  | { state: 'given-back' }
  /** Another process holds it. */
  | { state: 'refused' };

/** Leases of this process, by its own clock: a holder that was paused does not report an expired lease as held. */
export class LeaseStates {
  private readonly known = new Map<string, Known>();

  constructor(private readonly metrics: Instruments) {
    const gauge = metrics.gauge('leaseHeld');
    metrics.onScrape(() => {
      for (const lease of this.known.keys()) gauge.set({ lease }, this.isHeld(lease) ? 1 : 0);
    });
  }

  recordGrant(lease: string, ttlMs: number): void {
    if (!this.isHeld(lease)) this.metrics.counter('leaseAcquired').inc({ lease });
    this.known.set(lease, { state: 'held', until: performance.now() + ttlMs });
  }

  recordRefusal(lease: string): void {
    this.known.set(lease, { state: 'refused' });
  }

  recordRelease(lease: string): void {
    this.known.set(lease, { state: 'given-back' });
  }

  isHeld(lease: string): boolean {
    const known = this.known.get(lease);
    return known?.state === 'held' && known.until > performance.now();
  }

  /** Whether this process's progress counts: it is the holder, also while it pauses after a failure. */
  isLeading(lease: string): boolean {
    return this.known.get(lease)?.state === 'given-back' || this.isHeld(lease);
  }
}
