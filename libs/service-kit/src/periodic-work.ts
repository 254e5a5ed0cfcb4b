import { randomUUID } from 'node:crypto';
import { LeasedWorker, type Leases, type Term } from '@attestry/event-store';
import type { Health } from './health.js';
import type { Logger } from './logger.js';

export interface Work {
  /** Of the lease and in readiness; permanent. */
  name: string;
  /** Log message of a failed run. */
  failure: string;
  /** Between two runs, milliseconds. */
  pauseMs: number;
  /** Aborted when the term ends: another process may continue with the rest. */
  run: (term: Term) => Promise<void>;
}

/** A periodic job, in one process at a time. A failed run shows in readiness, and is retried. */
export class PeriodicWork {
  private readonly worker: LeasedWorker;
  private waiting: PromiseWithResolvers<void>[] = [];

  constructor(
    leases: Leases,
    private readonly health: Health,
    logger: Logger,
    private readonly work: Work,
  ) {
    this.worker = new LeasedWorker({
      name: work.name,
      lease: { leases, holder: randomUUID() },
      batch: (_, term) => this.runJob(term),
      onError: ({ message: error }) => logger.error({ error }, work.failure),
    });
  }

  start(): void {
    this.health.register(this.work.name, () => [this.worker.health]);
    this.worker.start();
  }

  /** A run in progress ends first. */
  stop(): Promise<void> {
    return this.worker.stop();
  }

  /** Resolves after a run that begins now, or when this process obtains the lease. */
  async once(): Promise<void> {
    const run = Promise.withResolvers<void>();
    this.waiting.push(run);
    this.worker.wake();
    await run.promise;
  }

  private async runJob(term: Term): Promise<number> {
    const waiting = this.waiting.splice(0);
    try {
      await this.work.run(term);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      throw error;
    }
    for (const { resolve } of waiting) resolve();
    return this.work.pauseMs;
  }
}
