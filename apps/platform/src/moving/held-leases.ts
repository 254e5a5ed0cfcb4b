import { randomUUID } from 'node:crypto';
import type { Lease, Leases } from '@attestry/event-store';

const LEASE_MS = 10_000;

/** Leases that a running platform would hold, held here, so that none runs or begins to publish meanwhile. */
export class HeldLeases {
  private readonly timer: NodeJS.Timeout;
  private fault: Error | undefined;

  private constructor(
    private readonly leases: Leases,
    private readonly held: Map<string, Lease>,
    private readonly where: string,
  ) {
    this.timer = setInterval(() => void this.renew(), LEASE_MS / 3).unref();
  }

  /** @throws Error when somebody else holds one of them */
  static async take(leases: Leases, names: readonly string[], where: string): Promise<HeldLeases> {
    const holder = randomUUID();
    const held = new Map<string, Lease>();
    for (const name of names) {
      const lease = await leases.acquire(name, holder, LEASE_MS);
      if (!lease) {
        for (const one of held.values()) await leases.release(one);
        throw new Error(`a platform is running on ${where} (it holds the lease ${name}): stop it first`);
      }
      held.set(name, lease);
    }
    return new HeldLeases(leases, held, where);
  }

  epochOf(name: string): number {
    return this.held.get(name)!.epoch;
  }

  /** @throws Error when they were lost since */
  check(): void {
    if (this.fault) throw this.fault;
  }

  async release(): Promise<void> {
    clearInterval(this.timer);
    for (const lease of this.held.values()) await this.leases.release(lease);
  }

  private async renew(): Promise<void> {
    try {
      for (const lease of this.held.values())
        if (!(await this.leases.renew(lease, LEASE_MS)))
          this.fault ??= new Error(
            `the lease ${lease.name} of ${this.where} was taken over: a platform was started there`,
          );
    } catch {
      // The store is away; the copy notices it, and the next turn tells whether the leases outlived that.
      return;
    }
  }
}
