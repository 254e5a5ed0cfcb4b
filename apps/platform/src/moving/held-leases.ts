import { randomUUID } from 'node:crypto';
import { HeldLease, type Leases } from '@attestry/event-store';

const LEASE_MS = 10_000;

/** Leases that a running platform would hold, held here, so that no process runs or begins to publish meanwhile. */
export class HeldLeases {
  private constructor(
    private readonly held: Map<string, HeldLease>,
    private readonly where: string,
  ) {}

  /** @throws Error when another process holds one of them */
  static async acquire(leases: Leases, names: readonly string[], where: string): Promise<HeldLeases> {
    const holder = randomUUID();
    const taken = new HeldLeases(new Map(), where);
    for (const name of names) {
      const lease = await HeldLease.acquire(name, { leases, holder, leaseMs: LEASE_MS });
      if (!lease) {
        await taken.release();
        throw new Error(`a platform is running on ${where} (it holds the lease ${name}): stop it first`);
      }
      taken.held.set(name, lease);
    }
    return taken;
  }

  epochOf(name: string): number {
    return this.held.get(name)!.lease.epoch;
  }

  /** @throws Error when they were lost since */
  checkHeld(): void {
    for (const [name, { isHeld }] of this.held)
      if (!isHeld)
        throw new Error(`the lease ${name} of ${this.where} was lost: a platform may have been started there`);
  }

  async release(): Promise<void> {
    for (const lease of this.held.values()) await lease.release();
  }
}
