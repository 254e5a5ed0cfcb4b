import { randomUUID } from 'node:crypto';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, type Leases, type Term } from '@attestry/event-store';
import type { Health } from './health.js';
import type { Logger } from './logger.js';

export interface PeriodicWorkOptions {
  /** Of the lease and in readiness; permanent. */
  name: string;
  /** Log message of a failed run. */
  failure: string;
  /** Between two runs, milliseconds. */
  pauseMs: number;
}

/** A periodic job, in one process at a time, as long as the application runs. A failed run shows in readiness, and is retried. */
export abstract class PeriodicWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: LeasedWorker;
  private waiting: PromiseWithResolvers<void>[] = [];

  constructor(
    leases: Leases,
    protected readonly health: Health,
    protected readonly logger: Logger,
    private readonly options: PeriodicWorkOptions,
  ) {
    this.worker = new LeasedWorker({
      name: options.name,
      lease: { leases, holder: randomUUID() },
      batch: (_, term) => this.runBatch(term),
      onError: ({ message: error }) => logger.error({ error }, options.failure),
    });
  }

  onApplicationBootstrap(): void {
    this.health.register(this.options.name, () => [this.worker.health]);
    this.worker.start();
  }

  /** A run in progress ends first. */
  beforeApplicationShutdown(): Promise<void> {
    return this.worker.stop();
  }

  /** Resolves after a run that begins now, or when this process obtains the lease. */
  async once(): Promise<void> {
    const run = Promise.withResolvers<void>();
    this.waiting.push(run);
    this.worker.wake();
    await run.promise;
  }

  /** One run. The term is aborted when it ends: another process may continue with the rest. */
  protected abstract runJob(term: Term): Promise<void>;

  private async runBatch(term: Term): Promise<number> {
    const waiting = this.waiting.splice(0);
    try {
      await this.runJob(term);
    } catch (error) {
      for (const { reject } of waiting) reject(error);
      throw error;
    }
    for (const { resolve } of waiting) resolve();
    return this.options.pauseMs;
  }
}
