import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Leases } from '@attestry/event-store';
import type { Health } from './health.js';
import type { Logger } from './logger.js';

/** Longer than a look takes; whoever dies with it delays the next by as much, milliseconds. */
const LEASE_MS = 60_000;
/** Between two looks while they fail: who was away is not ready until one succeeds, milliseconds. */
const RETRY_MS = 1000;

export interface Work {
  /** Of the lease and in readiness; permanent. */
  name: string;
  /** What the log says when a look failed. */
  failure: string;
  /** Between two looks, milliseconds. */
  pauseMs: number;
  look: () => Promise<void>;
}

/** Looks for something to do again and again, in one process at a time. A look that failed shows in readiness, and comes again. */
export class PeriodicWork {
  private readonly holder = randomUUID();
  private readonly stopping = new AbortController();
  private error: string | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly leases: Leases,
    private readonly health: Health,
    private readonly logger: Logger,
    private readonly work: Work,
  ) {}

  start(): void {
    const { name } = this.work;
    this.health.register(name, () => [
      { name, healthy: this.error === undefined, ...(this.error !== undefined && { error: this.error }) },
    ]);
    this.running = this.run();
  }

  /** A look under way ends first. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** One look, where no other process looks. */
  async once(): Promise<void> {
    const lease = await this.leases.acquire(this.work.name, this.holder, LEASE_MS);
    if (!lease) return;
    try {
      await this.work.look();
    } finally {
      await this.leases.release(lease);
    }
  }

  private async run(): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      try {
        await this.once();
        this.error = undefined;
      } catch (error) {
        this.error = error instanceof Error ? error.message : String(error);
        this.logger.error({ error: this.error }, this.work.failure);
      }
      const pauseMs = this.error === undefined ? this.work.pauseMs : Math.min(RETRY_MS, this.work.pauseMs);
      await pause(pauseMs, undefined, { signal }).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
    }
  }
}
