import { collectDefaultMetrics } from '@prometheus-io/client';
import { LeaseStates } from './lease-states.js';
import { Instruments } from './instruments.js';
import { Lag } from './lag.js';
import { observeMainThread } from './main-thread.js';

/**
 * The metrics of one process: created with the engines and injected, so that several platforms in one process (tests) do not share
 * counters.
 */
export class Metrics extends Instruments {
  readonly leases = new LeaseStates(this);
  readonly lag = new Lag(this, this.leases);
  /** Operations that are being handled. */
  operationsInFlight = 0;

  /** @param runs what the process runs: a service's name, or `platform` */
  constructor(runs = 'platform') {
    super();
    this.gauge('info').set({ runs }, 1);
    this.onScrape(() => this.gauge('operationsInFlight').set(this.operationsInFlight));
  }

  /**
   * Adds the process's own (CPU, memory, garbage collection, event-loop delay) and observes its main thread. Called once by
   * what serves them: the observers live as long as the process.
   */
  observeProcess(): void {
    collectDefaultMetrics({ register: this.registry });
    observeMainThread(this.bindHistogram('mainThreadBlock', {}));
  }
}
