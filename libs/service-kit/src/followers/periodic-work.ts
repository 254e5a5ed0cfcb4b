import { randomUUID } from 'node:crypto';
import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { LeasedWorker, type Leases, type Term } from '@attestry/event-store';
import type { Health } from '../process/health.js';
import type { Logger } from '../process/logger.js';

export interface PeriodicWorkOptions {
  /** Name of the lease and in readiness; permanent. */
  name: string;
  /** Log message of a failed run. */
  failure: string;
  /** Between two runs, milliseconds. */
  pauseMs: number;
}

/** A periodic job, in one process at a time, as long as the application runs. A failed run shows in readiness, and is retried. */
export abstract class PeriodicWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: LeasedWorker;

  constructor(
    leases: Leases,
    protected readonly health: Health,
    protected readonly logger: Logger,
    private readonly options: PeriodicWorkOptions,
  ) {
    this.worker = new LeasedWorker({
      name: options.name,
      lease: { leases, holder: randomUUID() },
      batch: async (_, term) => {
        await this.runJob(term);
        return options.pauseMs;
      },
      onError: ({ message: error }) => logger.error({ error }, options.failure),
    });
  }

  onApplicationBootstrap(): void {
    this.health.register(this.options.name, () => [
      { ...(this.fault && { error: this.fault }), ...this.worker.health },
    ]);
    this.worker.start();
  }

  /** A run in progress ends first. */
  beforeApplicationShutdown(): Promise<void> {
    return this.worker.stop();
  }

  /** Fault that readiness shows while the runs succeed. */
  protected get fault(): string | undefined {
    return undefined;
  }

  /** One run. The term is aborted when it ends: another process may continue with the rest. */
  abstract runJob(term: Term): Promise<void>;
}
