import { UnknownEventType } from '../aggregate.js';
import { EventStoreUnavailable, type Lease, type ReleaseWatch } from '../event-store.js';
import { abortWith } from './abort-with.js';
import { backOffMs, DEFAULT_BACK_OFF, type BackOff } from './back-off.js';
import { DEFAULT_LEASE_MS, HeldLease, RENEWAL_PART, type LeaseOptions } from './held-lease.js';
import { sleep } from './sleep.js';
import { untilTick } from './until-tick.js';

/** Another process holds the lease with a newer epoch: this one must stop. */
export class StaleEpoch extends Error {
  override readonly name: string = 'StaleEpoch';
  readonly code = 'StaleEpoch';
}

export interface WorkerHealth {
  name: string;
  /** False from a failure to the next success. Waiting for a lease or a newer release is healthy (ADR 0057). */
  healthy: boolean;
  /** Message of the last failure, until the next success. */
  error?: string;
}

/** The time from obtaining the lease to its end. */
export interface Term {
  /** Absent when every process runs it without a lease. */
  readonly lease?: Lease;
  /** Fences writes: they are conditional on it. 0 without a lease. */
  readonly epoch: number;
  /** False from the moment from which another process may do the work, also after a pause of this process. */
  readonly isHeld: boolean;
  /** Aborted when the lease is lost or the worker is stopped. */
  readonly signal: AbortSignal;
}

/** Source of a term's batches. */
export interface BatchSource<Batch> {
  /** The previous batch is done. `undefined` once the signal of the term is aborted. */
  next(): Promise<Batch | undefined>;
  close(): Promise<void>;
}

export interface WorkerOptions<Batch> {
  /** Permanent: names the lease. */
  name: string;
  /** Absent when every process runs it without a lease. */
  lease?: LeaseOptions;
  /** A term of another worker, whose lease it shares and with which it ends. */
  within?: Term;
  /** At the beginning of each term. Absent: a batch is due after the pause that follows the previous one. */
  openSource?(term: Term): Promise<BatchSource<Batch>>;
  /** Does the work of one batch, at least once. Resolves with the milliseconds to pause before the next. */
  batch(batch: Batch, term: Term): Promise<number | void>;
  /** When another process is found to hold the lease. */
  standBy?(): Promise<void> | void;
  backOff?: BackOff;
  /** Every failure, for the log. */
  onError?(error: Error, health: WorkerHealth): void;
  /** 0 to 1, for the back-off. */
  random?: () => number;
}

/** An unreachable engine recovers by itself, and a retry costs little. */
const MAX_AWAY_MS = 2000;
/** Between two tries of a standby, milliseconds: a timer may fire just before its tick. */
const SOONEST_MS = 20;

/**
 * Handles batches while it holds a lease, which is renewed for as long as a batch takes. After a failure the lease is released, so
 * that another process may succeed, and a new term begins after a back-off. A process without the lease is a standby.
 */
export class LeasedWorker<Batch = void> {
  readonly health: WorkerHealth;
  private readonly stopping = new AbortController();
  private term: Term | undefined;
  private failures = 0;
  /** A wake-up during a batch shortens the pause after it. */
  private isWoken = false;
  private endPause: (() => void) | undefined;
  private running: Promise<void> | undefined;
  private watch: ReleaseWatch | undefined;
  /** Aborted once the lease may be free. */
  private released = new AbortController();

  constructor(private readonly options: WorkerOptions<Batch>) {
    this.health = { name: options.name, healthy: true };
  }

  start(): this {
    this.running ??= this.runTerms();
    return this;
  }

  /** Waits for the current batch and releases the lease. */
  async stop(): Promise<void> {
    this.requestStop();
    await this.running;
  }

  /** {@link stop} without waiting, for calls from inside a batch. */
  requestStop(): void {
    this.stopping.abort();
  }

  get isStopped(): boolean {
    return this.stopping.signal.aborted;
  }

  /** This process holds the lease. */
  get isLeading(): boolean {
    return this.term?.isHeld === true;
  }

  /** Cuts the pause between two batches short. */
  wake(): void {
    this.isWoken = true;
    this.endPause?.();
  }

  /** Failures are over. Called after every successful batch. */
  recordSuccess(): void {
    this.failures = 0;
    this.health.healthy = true;
    delete this.health.error;
  }

  private async runTerms(): Promise<void> {
    const { within } = this.options;
    const leave = within && abortWith(this.stopping, within.signal);
    while (!this.isStopped) {
      this.released = new AbortController();
      try {
        if (!(await this.runTerm())) await this.standBy();
      } catch (error) {
        const waitMs = this.recordFailure(error instanceof Error ? error : new Error(String(error)));
        await sleep(waitMs, this.stopping.signal);
      }
    }
    this.watch?.close();
    leave?.();
  }

  /** Another process does the work; this one is ready. Waits until it may get the lease. */
  private async standBy(): Promise<void> {
    const { name, lease, standBy } = this.options;
    this.watch ??= lease?.leases.watchReleases(name, () => this.released.abort());
    this.recordSuccess();
    await standBy?.call(this.options);
    const { leaseMs = DEFAULT_LEASE_MS, pollMs = leaseMs * (this.watch?.isLive ? RENEWAL_PART : 1 / 6) } = lease ?? {};
    const leave = abortWith(this.released, this.stopping.signal);
    await sleep(untilTick(pollMs, SOONEST_MS), this.released.signal);
    leave();
  }

  /** @returns whether it got the lease */
  private async runTerm(): Promise<boolean> {
    const { name, lease, within } = this.options;
    if (!lease) return this.runUnleased(within);
    const held = await HeldLease.acquire(name, lease);
    if (!held) return false;
    const ending = new AbortController();
    const leave = abortWith(ending, held.signal, this.stopping.signal);
    try {
      await this.runBatches(termOf(held.lease, () => held.isHeld, ending.signal));
    } finally {
      leave();
      ending.abort();
      // If the release fails, the lease expires.
      await held.release().catch((error: Error) => this.options.onError?.(error, { ...this.health }));
    }
    return true;
  }

  private async runUnleased(within: Term | undefined): Promise<boolean> {
    if (within?.isHeld === false) return false;
    await this.runBatches(termOf(within?.lease, () => within?.isHeld ?? true, this.stopping.signal));
    return true;
  }

  private async runBatches(term: Term): Promise<void> {
    const { openSource, batch: handle } = this.options;
    this.term = term;
    // Once for the term: a listener for each pause would cost more than the pause.
    const endPause = () => this.endPause?.();
    term.signal.addEventListener('abort', endPause);
    try {
      const source = await openSource?.call(this.options, term);
      try {
        while (!term.signal.aborted && term.isHeld) {
          const batch = await source?.next();
          // Waiting for it may have taken longer than the lease.
          if (term.signal.aborted || !term.isHeld) return;
          if (source && batch === undefined) throw new Error(`${this.options.name} has no further batches`);
          this.isWoken = false;
          const pauseMs = await handle.call(this.options, batch as Batch, term);
          this.recordSuccess();
          if (pauseMs && !this.isWoken && !term.signal.aborted) await this.pause(pauseMs);
        }
      } finally {
        await source?.close();
      }
    } finally {
      term.signal.removeEventListener('abort', endPause);
      this.term = undefined;
    }
  }

  /** Between two batches of a term. */
  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** @returns the milliseconds to wait */
  private recordFailure(error: Error): number {
    const { backOff = DEFAULT_BACK_OFF, random } = this.options;
    const isAwaited = error instanceof UnknownEventType;
    this.health.healthy = isAwaited || error instanceof StaleEpoch;
    this.health.error = error.message;
    this.options.onError?.(error, { ...this.health });
    this.failures += 1;
    // A release that supports the event type polls for the lease meanwhile (ADR 0057).
    if (isAwaited) return backOff.maxMs;
    const maxMs = error instanceof EventStoreUnavailable ? Math.min(backOff.maxMs, MAX_AWAY_MS) : backOff.maxMs;
    return backOffMs(this.failures, { ...backOff, maxMs }, random);
  }
}

const termOf = (lease: Lease | undefined, isHeld: () => boolean, signal: AbortSignal): Term => ({
  lease,
  epoch: lease?.epoch ?? 0,
  get isHeld() {
    return isHeld();
  },
  signal,
});
